import { internalError, invalid } from "../../../base/api/api-error.ts";
import { printFieldError } from "../../../base/api/field-error.ts";
import { isObject, type KubeObject } from "../../../base/api/object.ts";
import { quote } from "../../../base/go/quote.ts";
import type { Container } from "../../../kinds/types/container.ts";
import { type PodSpec, podSpecOf } from "../../../kinds/types/pod.ts";
import type { ObjectAccess } from "../../../resources/model/definition.ts";
import { isInGroup, refusal, targets } from "../matches.ts";
import type { AdmissionPlugin, AdmissionRequest } from "../plugin.ts";
import { podWarnings } from "./pod-security/namespace-warnings.ts";
import {
  compareLevels,
  isSameLevelVersion,
  type LevelVersion,
  type Policy,
  printLevelVersion,
  readPolicy,
} from "./pod-security/policy.ts";
import { printDetails, violations } from "./pod-security/standards.ts";
import type { JudgedPod } from "./pod-security/violation.ts";

const ANNOTATION = "pod-security.kubernetes.io/";

/** Subresources that PodSecurity ignores. Any other may change the checked fields, so it is checked. */
const IGNORED_SUBRESOURCES: readonly string[] = [
  "exec",
  "attach",
  "binding",
  "eviction",
  "log",
  "portforward",
  "proxy",
  "status",
];

/** Paths of pod templates in workloads. */
const TEMPLATES: readonly (readonly [group: string, plural: string, path: readonly string[]])[] = [
  ["", "replicationcontrollers", ["spec", "template"]],
  ["", "podtemplates", ["template"]],
  ["apps", "replicasets", ["spec", "template"]],
  ["apps", "deployments", ["spec", "template"]],
  ["apps", "statefulsets", ["spec", "template"]],
  ["apps", "daemonsets", ["spec", "template"]],
  ["batch", "jobs", ["spec", "template"]],
  ["batch", "cronjobs", ["spec", "jobTemplate", "spec", "template"]],
];

/**
 * PodSecurity: enforces, audits and warns about the levels of the Pod Security Standards that labels of a Namespace
 * set.
 */
export function podSecurity(access: ObjectAccess): AdmissionPlugin {
  return {
    name: "PodSecurity",
    handles: (request) =>
      (request.operation === "CREATE" || request.operation === "UPDATE") &&
      (isPodWrite(request) || targets(request, "", "namespaces") || templatePath(request) !== undefined),
    async validate(request) {
      const { object } = request;
      if (!object) return;
      if (targets(request, "", "namespaces")) await judgeNamespace(access, request, object);
      else if (isPodWrite(request)) await judgePod(access, request, object);
      else await judgeTemplate(access, request, object);
    },
  };
}

function isPodWrite({ resource: { definition }, subresource }: AdmissionRequest): boolean {
  const isPod = definition.plural === "pods" && isInGroup(definition, "");
  return isPod && !IGNORED_SUBRESOURCES.includes(subresource);
}

function templatePath(request: AdmissionRequest): readonly string[] | undefined {
  return TEMPLATES.find(([group, plural]) => targets(request, group, plural))?.[2];
}

async function judgeNamespace(access: ObjectAccess, request: AdmissionRequest, object: KubeObject): Promise<void> {
  const { name } = request;
  const { policy, errors } = readPolicy(object.metadata.labels);
  const refused = () => invalid(request.resource.definition, name, errors);
  if (!request.previous) {
    if (errors.length > 0) throw refused();
    return;
  }
  const before = readPolicy(request.previous.metadata.labels);
  const isOldMistake = printAll(errors) === printAll(before.errors);
  if (errors.length > 0 && !isOldMistake) throw refused();
  if (!isTightened(policy.enforce, before.policy.enforce)) return;
  const pods = await access.list("", "pods", name, "any");
  for (const text of podWarnings(name, policy.enforce, pods)) request.warn(text);
}

const printAll = (errors: Parameters<typeof printFieldError>[0][]) => errors.map(printFieldError).join("\n");

/** Whether enforce became stricter, so that existing pods may violate it. */
function isTightened(next: LevelVersion, previous: LevelVersion): boolean {
  if (next.level === "privileged" || isSameLevelVersion(next, previous)) return false;
  return next.version !== previous.version || compareLevels(next.level, previous.level) > 0;
}

async function judgePod(access: ObjectAccess, request: AdmissionRequest, pod: KubeObject): Promise<void> {
  const { previous } = request;
  const read = await policyOf(access, request);
  if (!read) throw internalError(`failed to lookup namespace ${quote(request.namespace)}`);
  const { policy, errors } = read;
  const isPrivileged = [policy.enforce, policy.audit, policy.warn].every(({ level }) => level === "privileged");
  if (errors.length === 0 && isPrivileged) {
    request.annotate?.(`${ANNOTATION}enforce-policy`, "privileged:latest");
    return;
  }
  if (previous && !isSignificant(podSpecOf(pod), podSpecOf(previous))) return;
  judge(request, policy, { annotations: pod.metadata.annotations ?? {}, spec: podSpecOf(pod) }, true);
}

async function judgeTemplate(access: ObjectAccess, request: AdmissionRequest, object: KubeObject): Promise<void> {
  const policy = (await policyOf(access, request))?.policy;
  if (!policy || (policy.warn.level === "privileged" && policy.audit.level === "privileged")) return;
  let template: unknown = object;
  for (const member of templatePath(request) ?? []) template = isObject(template) ? template[member] : undefined;
  if (!isObject(template)) return;
  const metadata = isObject(template.metadata) ? template.metadata : {};
  const annotations = isObject(metadata.annotations) ? (metadata.annotations as Record<string, string>) : {};
  judge(request, policy, { annotations, spec: (isObject(template.spec) ? template.spec : {}) as PodSpec }, false);
}

async function policyOf(access: ObjectAccess, { namespace }: AdmissionRequest) {
  const found = await access.find("", "namespaces", { namespace: "", name: namespace });
  return found && readPolicy(found.metadata.labels);
}

function judge(request: AdmissionRequest, policy: Policy, pod: JudgedPod, isEnforced: boolean): void {
  const { enforce, audit, warn } = policy;
  const enforced = isEnforced ? violations(enforce, pod) : [];
  if (isEnforced) request.annotate?.(`${ANNOTATION}enforce-policy`, printLevelVersion(enforce));
  if (request.annotate) {
    const noted = violations(audit, pod);
    if (noted.length > 0) request.annotate(`${ANNOTATION}audit-violations`, wouldViolate(audit, printDetails(noted)));
  }
  if (enforced.length > 0) {
    throw refusal(request, `violates PodSecurity "${printLevelVersion(enforce)}": ${printDetails(enforced)}`);
  }
  const warned = violations(warn, pod);
  if (warned.length > 0) request.warn(wouldViolate(warn, printDetails(warned)));
}

function wouldViolate(level: LevelVersion, details: string): string {
  return `would violate PodSecurity "${printLevelVersion(level)}": ${details}`;
}

/** Whether an update changes images of containers. Other checked fields cannot change. */
function isSignificant(next: PodSpec, previous: PodSpec): boolean {
  for (const member of ["containers", "initContainers"] as const) {
    const [one = [], other = []] = [next[member], previous[member]];
    if (one.length !== other.length || one.some(({ image }, index) => image !== other[index]?.image)) return true;
  }
  const known = new Map((previous.ephemeralContainers ?? []).map((one): [string, Container] => [one.name ?? "", one]));
  return (next.ephemeralContainers ?? []).some(
    ({ name = "", image }) => !known.has(name) || known.get(name)?.image !== image,
  );
}
