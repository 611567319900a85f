import {
  duplicateField,
  type FieldError,
  invalidField,
  notSupportedField,
  requiredField,
  tooManyField,
} from "../../../../base/api/field-error.ts";
import type { Container, ContainerPort, ContainerResizePolicy } from "../../../types/container.ts";
import type { Volume } from "../../../types/volume.ts";
import { labelName, portName, portNumber, pushInvalid } from "../../shared-rules/formats.ts";
import type { PodOptions } from "../pod/pod-options.ts";
import { validateVolumeDevices, validateVolumeMounts } from "../volume/volume-mount-validation.ts";
import { validateEnvironment } from "./container-environment-validation.ts";
import { checkPullPolicy } from "./pull-policy.ts";
import { validateResources } from "./resource-validation.ts";
import { validateSecurityContext } from "./security-context-validation.ts";

/** Context of validating containers: options and names of the pod. */
export interface ContainerScope {
  readonly options: PodOptions;
  /** Valid volumes by name. */
  readonly volumes: ReadonlyMap<string, Volume>;
  /** Names in `spec.resourceClaims` of the pod. */
  readonly claimNames: ReadonlySet<string>;
  readonly restartPolicy: string;
  /** `spec.os.name`; undefined if it is not set. */
  readonly os: string | undefined;
  readonly gracePeriodSeconds: number | undefined;
  /** `spec.hostUsers`: whether the pod uses the user namespace of the node. */
  readonly hostUsers: boolean;
}

const MESSAGE_POLICIES = ["File", "FallbackToLogsOnError"];

/** Validates the common fields of containers, initContainers and ephemeralContainers. */
export function validateContainerCommon(
  errors: FieldError[],
  container: Container,
  path: string,
  scope: ContainerScope,
): void {
  const { name = "", image = "", terminationMessagePolicy = "" } = container;
  if (name === "") errors.push(requiredField(`${path}.name`));
  else pushInvalid(errors, `${path}.name`, name, labelName(name));
  if (image === "") errors.push(requiredField(`${path}.image`));
  const policyPath = `${path}.terminationMessagePolicy`;
  if (terminationMessagePolicy === "") errors.push(requiredField(policyPath));
  else if (!MESSAGE_POLICIES.includes(terminationMessagePolicy)) {
    errors.push(notSupportedField(policyPath, terminationMessagePolicy, MESSAGE_POLICIES));
  }
  if (container.ports) validatePorts(errors, container.ports, `${path}.ports`);
  validateEnvironment(errors, container, path);
  validateVolumeMounts(errors, container, `${path}.volumeMounts`, scope.volumes);
  validateVolumeDevices(errors, container, `${path}.volumeDevices`, scope.volumes);
  checkPullPolicy(errors, container.imagePullPolicy ?? "", `${path}.imagePullPolicy`);
  if (container.resources) {
    const { options, claimNames } = scope;
    validateResources(errors, container.resources, `${path}.resources`, { options, claimNames });
  }
  if (container.resizePolicy) checkResizePolicy(errors, container.resizePolicy, `${path}.resizePolicy`, scope);
  if (container.securityContext) {
    validateSecurityContext(errors, container.securityContext, `${path}.securityContext`, scope);
  }
}

const PROTOCOLS = ["SCTP", "TCP", "UDP"];

function validatePorts(errors: FieldError[], ports: readonly ContainerPort[], path: string): void {
  const names = new Set<string>();
  for (const [index, { name = "", containerPort = 0, hostPort = 0, protocol = "" }] of ports.entries()) {
    const at = `${path}[${index}]`;
    if (name !== "") {
      const texts = portName(name);
      if (texts.length > 0) pushInvalid(errors, `${at}.name`, name, texts);
      else if (names.has(name)) errors.push(duplicateField(`${at}.name`, name));
      else names.add(name);
    }
    if (containerPort === 0) errors.push(requiredField(`${at}.containerPort`));
    else pushInvalid(errors, `${at}.containerPort`, containerPort, portNumber(containerPort));
    if (hostPort !== 0) pushInvalid(errors, `${at}.hostPort`, hostPort, portNumber(hostPort));
    if (protocol === "") errors.push(requiredField(`${at}.protocol`));
    else if (!PROTOCOLS.includes(protocol)) errors.push(notSupportedField(`${at}.protocol`, protocol, PROTOCOLS));
  }
}

/** Rejects a hostPort that is used twice. Upstream: `checkHostPortConflicts`. */
export function checkHostPorts(errors: FieldError[], containers: readonly Container[], path: string): void {
  const taken = new Set<string>();
  for (const [index, { ports = [] }] of containers.entries()) {
    for (const [portIndex, { hostPort = 0, hostIP = "", protocol = "" }] of ports.entries()) {
      if (hostPort === 0) continue;
      const port = `${protocol}/${hostIP}/${hostPort}`;
      if (taken.has(port)) errors.push(duplicateField(`${path}[${index}].ports[${portIndex}].hostPort`, port));
      taken.add(port);
    }
  }
}

const RESIZABLE = ["cpu", "memory"];
const RESIZE_POLICIES = ["NotRequired", "RestartContainer"];

function checkResizePolicy(
  errors: FieldError[],
  policies: readonly ContainerResizePolicy[],
  path: string,
  scope: ContainerScope,
): void {
  const seen = new Set<string>();
  for (const [index, { resourceName = "", restartPolicy = "" }] of policies.entries()) {
    if (seen.has(resourceName)) errors.push(duplicateField(`${path}[${index}]`, resourceName));
    seen.add(resourceName);
    checkOneOf(errors, resourceName, path, RESIZABLE);
    checkOneOf(errors, restartPolicy, path, RESIZE_POLICIES);
    if (scope.restartPolicy === "Never" && restartPolicy !== "NotRequired") {
      const text = "must be 'NotRequired' when pod `restartPolicy` is 'Never'";
      errors.push(invalidField(path, restartPolicy, text));
    }
  }
}

function checkOneOf(errors: FieldError[], value: string, path: string, allowed: readonly string[]): void {
  if (value === "") errors.push(requiredField(path));
  else if (!allowed.includes(value)) errors.push(notSupportedField(path, value, allowed));
}

const RESTART_POLICIES = ["Always", "Never", "OnFailure"];
const RESTART_ACTIONS = ["Restart", "RestartAllContainers"];
const EXIT_OPERATORS = ["In", "NotIn"];
const MAX_RULES = 20;
const MAX_EXIT_CODES = 255;

/** Validates `restartPolicy` and `restartPolicyRules` of a container. */
export function checkRestartRules(errors: FieldError[], container: Container, path: string): void {
  const { restartPolicy, restartPolicyRules: rules = [] } = container;
  if (restartPolicy === undefined) {
    if (rules.length === 0) return;
    errors.push(requiredField(`${path}.restartPolicy`, "must specify restartPolicy when restart rules are used"));
  } else if (!RESTART_POLICIES.includes(restartPolicy)) {
    errors.push(notSupportedField(`${path}.restartPolicy`, restartPolicy, RESTART_POLICIES));
  }
  if (rules.length > MAX_RULES) errors.push(tooManyField(`${path}.restartPolicyRules`, rules.length, MAX_RULES));
  for (const [index, { action = "", exitCodes }] of rules.entries()) {
    const at = `${path}.restartPolicyRules[${index}]`;
    if (!RESTART_ACTIONS.includes(action)) errors.push(notSupportedField(`${at}.action`, action, RESTART_ACTIONS));
    if (!exitCodes) {
      errors.push(requiredField(`${at}.exitCodes`, "must be specified"));
      continue;
    }
    const { operator = "", values = [] } = exitCodes;
    if (!EXIT_OPERATORS.includes(operator)) {
      errors.push(notSupportedField(`${at}.exitCodes.operator`, operator, EXIT_OPERATORS));
    }
    if (values.length > MAX_EXIT_CODES) {
      errors.push(tooManyField(`${at}.exitCodes.values`, values.length, MAX_EXIT_CODES));
    }
  }
}
