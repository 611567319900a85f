import {
  type FieldError,
  forbiddenField,
  invalidField,
  notSupportedField,
  requiredField,
} from "../../../../base/api/field-error.ts";
import type {
  Container,
  ExecAction,
  GRPCAction,
  HTTPGetAction,
  Lifecycle,
  Probe,
  SleepAction,
  TCPSocketAction,
} from "../../../types/container.ts";
import { headerName, pushInvalid, pushPortErrors } from "../../shared-rules/formats.ts";
import { NOT_NEGATIVE } from "../../shared-rules/numbers.ts";
import type { ContainerScope } from "./container-validation.ts";
import { LINUX_SIGNALS, WINDOWS_SIGNALS } from "./stop-signals.ts";

/** ProbeHandler or LifecycleHandler. */
interface Handler {
  readonly exec?: ExecAction;
  readonly httpGet?: HTTPGetAction;
  readonly tcpSocket?: TCPSocketAction;
  readonly grpc?: GRPCAction;
  readonly sleep?: SleepAction;
}

/** Validates livenessProbe, readinessProbe and startupProbe of a container. */
export function validateProbes(errors: FieldError[], container: Container, path: string): void {
  const { livenessProbe, readinessProbe, startupProbe } = container;
  if (livenessProbe) checkSingleSuccess(errors, livenessProbe, `${path}.livenessProbe`);
  if (readinessProbe) {
    checkProbe(errors, readinessProbe, `${path}.readinessProbe`);
    const { terminationGracePeriodSeconds: seconds } = readinessProbe;
    if (seconds !== undefined) {
      const at = `${path}.readinessProbe.terminationGracePeriodSeconds`;
      errors.push(invalidField(at, seconds, "must not be set for readinessProbes"));
    }
  }
  if (startupProbe) checkSingleSuccess(errors, startupProbe, `${path}.startupProbe`);
}

function checkSingleSuccess(errors: FieldError[], probe: Probe, path: string): void {
  checkProbe(errors, probe, path);
  const { successThreshold = 0 } = probe;
  if (successThreshold !== 1) errors.push(invalidField(`${path}.successThreshold`, successThreshold, "must be 1"));
}

const COUNTS = [
  "initialDelaySeconds",
  "timeoutSeconds",
  "periodSeconds",
  "successThreshold",
  "failureThreshold",
] as const;

function checkProbe(errors: FieldError[], probe: Probe, path: string): void {
  const { exec, httpGet, tcpSocket, grpc, terminationGracePeriodSeconds: seconds } = probe;
  checkHandler(errors, { exec, httpGet, tcpSocket, grpc }, path);
  for (const member of COUNTS) {
    const count = probe[member] ?? 0;
    if (count < 0) errors.push(invalidField(`${path}.${member}`, count, NOT_NEGATIVE));
  }
  if (seconds !== undefined && seconds <= 0) {
    errors.push(invalidField(`${path}.terminationGracePeriodSeconds`, seconds, "must be greater than 0"));
  }
}

type Check = (errors: FieldError[], action: never, path: string) => void;

const ACTIONS: readonly [keyof Handler, Check][] = [
  ["exec", checkExec as Check],
  ["httpGet", checkHttpGet as Check],
  ["tcpSocket", checkTcpSocket as Check],
  ["grpc", checkGrpc as Check],
];

function checkHandler(errors: FieldError[], handler: Handler, path: string, gracePeriod?: number): void {
  let isTaken = false;
  for (const [member, check] of ACTIONS) {
    const action = handler[member];
    if (!action) continue;
    if (isTaken) errors.push(forbiddenField(`${path}.${member}`, "may not specify more than 1 handler type"));
    else check(errors, action as never, `${path}.${member}`);
    isTaken = true;
  }
  if (handler.sleep) {
    if (isTaken) errors.push(forbiddenField(`${path}.sleep`, "may not specify more than 1 handler type"));
    else checkSleep(errors, handler.sleep, `${path}.sleep`, gracePeriod);
    isTaken = true;
  }
  if (!isTaken) errors.push(requiredField(path, "must specify a handler type"));
}

function checkExec(errors: FieldError[], { command = [] }: ExecAction, path: string): void {
  if (command.length === 0) errors.push(requiredField(`${path}.command`));
}

const SCHEMES = ["HTTP", "HTTPS"];
const HTTP_PROTOCOLS = ["HTTP1", "HTTP2"];

function checkHttpGet(errors: FieldError[], get: HTTPGetAction, path: string): void {
  const { path: place = "", port = 0, scheme = "", httpHeaders = [], protocol, host = "" } = get;
  if (place === "") errors.push(requiredField(`${path}.path`));
  pushPortErrors(errors, `${path}.port`, port);
  if (!SCHEMES.includes(scheme)) errors.push(notSupportedField(`${path}.scheme`, scheme, SCHEMES));
  for (const { name = "" } of httpHeaders) pushInvalid(errors, `${path}.httpHeaders`, name, headerName(name));
  if (protocol === undefined) return;
  if (!HTTP_PROTOCOLS.includes(protocol)) {
    errors.push(notSupportedField(`${path}.protocol`, protocol, HTTP_PROTOCOLS));
  } else if (protocol === "HTTP2" && scheme !== "HTTP") {
    errors.push(invalidField(`${path}.protocol`, protocol, "is only supported with HTTP (H2C)"));
  } else if (protocol === "HTTP2" && host !== "") {
    errors.push(invalidField(`${path}.host`, host, 'must be empty when `protocol` is "HTTP2"'));
  }
}

function checkTcpSocket(errors: FieldError[], { port = 0 }: TCPSocketAction, path: string): void {
  pushPortErrors(errors, `${path}.port`, port);
}

const GRPC_MODES = ["Plaintext", "TLS"];

function checkGrpc(errors: FieldError[], { port = 0, mode }: GRPCAction, path: string): void {
  pushPortErrors(errors, `${path}.port`, port);
  if (mode !== undefined && !GRPC_MODES.includes(mode)) {
    errors.push(notSupportedField(`${path}.mode`, mode, GRPC_MODES));
  }
}

function checkSleep(errors: FieldError[], { seconds = 0 }: SleepAction, path: string, gracePeriod?: number): void {
  if (gracePeriod === undefined || (seconds >= 0 && seconds <= gracePeriod)) return;
  const text = `must be non-negative and less than terminationGracePeriodSeconds (${gracePeriod})`;
  errors.push(invalidField(path, seconds, text));
}

/** Validates `lifecycle` (postStart, preStop, stopSignal) of a container. */
export function validateLifecycle(
  errors: FieldError[],
  lifecycle: Lifecycle,
  path: string,
  { gracePeriodSeconds, os }: ContainerScope,
): void {
  const { postStart, preStop, stopSignal } = lifecycle;
  if (postStart) checkHandler(errors, postStart, `${path}.postStart`, gracePeriodSeconds);
  if (preStop) checkHandler(errors, preStop, `${path}.preStop`, gracePeriodSeconds);
  if (stopSignal === undefined) return;
  if (os === undefined) {
    const text = "may not be set for containers with empty `spec.os.name`";
    errors.push(forbiddenField(`${path}.stopSignal`, text));
    return;
  }
  const signals = os === "windows" ? WINDOWS_SIGNALS : os === "linux" ? LINUX_SIGNALS : [stopSignal];
  if (!signals.includes(stopSignal)) errors.push(notSupportedField(`${path}.stopSignal`, stopSignal, signals));
}
