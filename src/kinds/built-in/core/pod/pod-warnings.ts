import { labelValue } from "../../../../base/api/names.ts";
import type { ObjectMeta } from "../../../../base/api/object.ts";
import { parseQuantity } from "../../../../base/api/quantity.ts";
import { quote } from "../../../../base/go/quote.ts";
import { getMember } from "../../../../base/util/members.ts";
import type { Container, ContainerPort } from "../../../types/container.ts";
import type { Texts } from "../../../types/meta.ts";
import type { NodeSelectorTerm, PodAffinity, PodSpec } from "../../../types/pod.ts";
import { containersWithPaths, type PlacedContainer } from "../../../types/pod-containers.ts";
import { sameValue } from "../../shared-rules/immutable.ts";
import { addressWarnings } from "../../shared-rules/ip.ts";
import { deprecatedNodeLabel } from "../../shared-rules/node-labels.ts";
import { isWhole } from "../../shared-rules/resource-names.ts";
import { volumeWarnings } from "../volume/volume-warnings.ts";
import { APP_ARMOR_PREFIX, annotationOf, SECCOMP_POD, SECCOMP_PREFIX } from "./pod-annotation-validation.ts";
import { profileOf } from "./pod-create.ts";

const OLD_ANNOTATIONS: Readonly<Record<string, string>> = {
  "scheduler.alpha.kubernetes.io/critical-pod": 'non-functional in v1.16+; use the "priorityClassName" field instead',
  "security.alpha.kubernetes.io/sysctls": 'non-functional in v1.11+; use the "sysctls" field instead',
  "security.alpha.kubernetes.io/unsafe-sysctls": 'non-functional in v1.11+; use the "sysctls" field instead',
};
const REQUIRED = "requiredDuringSchedulingIgnoredDuringExecution";
const PREFERRED = "preferredDuringSchedulingIgnoredDuringExecution";

/** Warnings about a pod. Upstream: `GetWarningsForPod`. */
export function podWarnings(spec: PodSpec, metadata: ObjectMeta): string[] {
  return warningsAt(spec, metadata, "");
}

/** Warnings about a PodTemplateSpec at a path. Upstream: `GetWarningsForPodTemplate`. */
export function podTemplateWarnings(
  template: { readonly spec?: PodSpec; readonly metadata?: ObjectMeta },
  path: string,
): string[] {
  return warningsAt(template.spec ?? {}, template.metadata ?? {}, `${path}.`);
}

/** `prefix` is empty for pods, or the path of the template and a dot. */
function warningsAt(spec: PodSpec, { annotations = {} }: ObjectMeta, prefix: string): string[] {
  const path = `${prefix}spec`;
  const containers = containersWithPaths(spec, path);
  const found: string[] = [];
  const say = (texts: readonly string[]) => {
    for (const text of texts) found.push(text);
  };
  say(nodeWarnings(spec, path));
  say(spreadWarnings(spec, path));
  for (const key in OLD_ANNOTATIONS) {
    if (annotations[key] !== undefined)
      found.push(`${prefix}metadata.annotations[${key}]: ${getMember(OLD_ANNOTATIONS, key)}`);
  }
  if (spec.volumes) say(volumeWarnings(spec.volumes, `${path}.volumes`));
  say(listWarnings(spec, path));
  say(fractionWarnings(spec.overhead, path, "overhead"));
  if (!spec.securityContext?.seccompProfile) say(seccompWarning(annotations[SECCOMP_POD], SECCOMP_POD, prefix));
  for (const { container, at } of containers) {
    say(profileWarnings(container, spec, annotations, prefix));
    say(fractionWarnings(container.resources?.limits, at, "resources.limits"));
    say(fractionWarnings(container.resources?.requests, at, "resources.requests"));
    if (container.env) say(environmentWarnings(container, at));
  }
  say(portWarnings(containers));
  if ((spec.terminationGracePeriodSeconds ?? 0) < 0) {
    const text = "must be >= 0; negative values are invalid and will be treated as 1";
    found.push(`${path}.terminationGracePeriodSeconds: ${text}`);
  }
  if (spec.affinity) {
    say(affinityWarnings(spec.affinity.podAffinity, `${path}.affinity.podAffinity`));
    say(affinityWarnings(spec.affinity.podAntiAffinity, `${path}.affinity.podAntiAffinity`));
  }
  for (const [index, address] of (spec.dnsConfig?.nameservers ?? []).entries()) {
    say(addressWarnings(`${path}.dnsConfig.nameservers[${index}]`, address));
  }
  for (const [index, { ip = "" }] of (spec.hostAliases ?? []).entries()) {
    say(addressWarnings(`${path}.hostAliases[${index}].ip`, ip));
  }
  return found;
}

function nodeWarnings({ nodeSelector = {}, affinity }: PodSpec, path: string): string[] {
  const ofSelector: string[] = [];
  for (const key in nodeSelector) {
    const text = deprecatedNodeLabel(key);
    if (text !== undefined) ofSelector.push(`${path}.nodeSelector[${key}]: ${text}`);
  }
  if (!affinity?.nodeAffinity) return ofSelector;
  const required = affinity?.nodeAffinity?.[REQUIRED]?.nodeSelectorTerms ?? [];
  const preferred = affinity?.nodeAffinity?.[PREFERRED] ?? [];
  const at = `${path}.affinity.nodeAffinity`;
  return [
    ...ofSelector,
    ...required.flatMap((term, index) => termWarnings(term, `${at}.${REQUIRED}.nodeSelectorTerms[${index}]`, false)),
    ...preferred.flatMap(({ preference = {} }, index) =>
      termWarnings(preference, `${at}.${PREFERRED}[${index}].preference`, true),
    ),
  ];
}

function termWarnings({ matchExpressions = [] }: NodeSelectorTerm, path: string, checksValues: boolean): string[] {
  return matchExpressions.flatMap(({ key = "", values = [] }, index) => {
    const at = `${path}.matchExpressions[${index}]`;
    const text = deprecatedNodeLabel(key);
    const ofKey = text === undefined ? [] : [`${at}.key: ${key} is ${text}`];
    if (!checksValues) return ofKey;
    const ofValues = values.flatMap((value, valueIndex) =>
      labelValue(value).map((problem) => `${at}.values[${valueIndex}]: ${value} is invalid, ${problem}`),
    );
    return [...ofKey, ...ofValues];
  });
}

const SELECTS_NOTHING = "a null labelSelector results in matching no pod";

function spreadWarnings({ topologySpreadConstraints = [] }: PodSpec, path: string): string[] {
  return topologySpreadConstraints.flatMap(({ topologyKey = "", labelSelector }, index) => {
    const at = `${path}.topologySpreadConstraints[${index}]`;
    const text = deprecatedNodeLabel(topologyKey);
    return [
      ...(text === undefined ? [] : [`${at}.topologyKey: ${topologyKey} is ${text}`]),
      ...(labelSelector ? [] : [`${at}.labelSelector: ${SELECTS_NOTHING}`]),
    ];
  });
}

function affinityWarnings(affinity: PodAffinity | undefined, path: string): string[] {
  const required = affinity?.[REQUIRED] ?? [];
  const preferred = affinity?.[PREFERRED] ?? [];
  return [
    ...required.flatMap(({ labelSelector }, index) =>
      labelSelector ? [] : [`${path}.${REQUIRED}[${index}].labelSelector: ${SELECTS_NOTHING}`],
    ),
    ...preferred.flatMap(({ podAffinityTerm }, index) =>
      podAffinityTerm?.labelSelector
        ? []
        : [`${path}.${PREFERRED}[${index}].podAffinityTerm.labelSelector: ${SELECTS_NOTHING}`],
    ),
  ];
}

function listWarnings({ hostAliases = [], imagePullSecrets = [] }: PodSpec, path: string): string[] {
  if (hostAliases.length + imagePullSecrets.length === 0) return [];
  const addresses = hostAliases.map(({ ip = "" }) => ip);
  const secrets = imagePullSecrets.map(({ name = "" }) => name);
  return [
    ...repeated(addresses).map((i) => `${path}.hostAliases[${i}].ip: duplicate ip ${quote(addresses[i] ?? "")}`),
    ...repeated(secrets).map((i) => `${path}.imagePullSecrets[${i}].name: duplicate name ${quote(secrets[i] ?? "")}`),
    ...secrets.flatMap((name, i) =>
      name === "" ? [`${path}.imagePullSecrets[${i}].name: invalid empty name ${quote(name)}`] : [],
    ),
  ];
}

/** Indexes of items that occurred before. */
function repeated(items: readonly string[]): number[] {
  const seen = new Set<string>();
  const found: number[] = [];
  for (const [index, item] of items.entries()) {
    if (seen.has(item)) found.push(index);
    seen.add(item);
  }
  return found;
}

const BYTES = ["memory", "ephemeral-storage"];

function fractionWarnings(list: Texts | undefined, path: string, member: string): string[] {
  if (!list) return [];
  const warnings: string[] = [];
  for (const name of BYTES) {
    const amount = list[name];
    if (amount === undefined || isWhole(parseQuantity(amount))) continue;
    const text = `fractional byte value ${quote(amount)} is invalid, must be an integer`;
    warnings.push(`${path}.${member}[${name}]: ${text}`);
  }
  return warnings;
}

function seccompWarning(annotation: string | undefined, key: string, prefix: string): string[] {
  if (annotation === undefined) return [];
  return [`${prefix}metadata.annotations[${key}]: non-functional in v1.27+; use the "seccompProfile" field instead`];
}

function profileWarnings(container: Container, spec: PodSpec, annotations: Texts, prefix: string): string[] {
  const { name = "", securityContext } = container;
  const warnings = securityContext?.seccompProfile
    ? []
    : seccompWarning(annotationOf(annotations, SECCOMP_PREFIX, name), `${SECCOMP_PREFIX}${name}`, prefix);
  // For pods, the warning is issued when the annotation is converted to a field.
  const annotation = prefix === "" ? undefined : annotationOf(annotations, APP_ARMOR_PREFIX, name);
  if (annotation === undefined || securityContext?.appArmorProfile) return warnings;
  const ofPod = spec.securityContext?.appArmorProfile;
  if (ofPod && sameValue(ofPod, profileOf(annotation))) return warnings;
  const text = 'deprecated since v1.30; use the "appArmorProfile" field instead';
  return [...warnings, `${prefix}metadata.annotations[${APP_ARMOR_PREFIX}${name}]: ${text}`];
}

function environmentWarnings({ env = [] }: Container, path: string): string[] {
  const names = env.map(({ name = "" }) => name);
  return repeated(names).flatMap((index) => {
    const { name = "", value = "", valueFrom } = env[index] ?? {};
    const reference = `$(${name})`;
    const extendsIt = !valueFrom && value !== reference && value.includes(reference);
    if (extendsIt) return [];
    const text = `hides previous definition of ${quote(name)}, which may be dropped when using apply`;
    return [`${path}.env[${index}]: ${text}`];
  });
}

interface PlacedPort {
  readonly at: string;
  readonly port: ContainerPort;
}

function portWarnings(containers: readonly PlacedContainer[]): string[] {
  const ports: PlacedPort[] = [];
  for (const { container, at } of containers) {
    for (const [index, port] of (container.ports ?? []).entries()) ports.push({ at: `${at}.ports[${index}]`, port });
  }
  if (ports.length === 0) return [];
  return [...definitionWarnings(ports), ...nameCollisions(ports)];
}

/**
 * Limits for ports with the same number and protocol: pairs compared, and warnings kept. A response has room for about
 * 50.
 */
const MAX_PAIRS = 100_000;
const MAX_PORT_WARNINGS = 1000;

function definitionWarnings(ports: readonly PlacedPort[]): string[] {
  const found: string[] = [];
  const before = new Map<string, PlacedPort[]>();
  let pairs = 0;
  for (const one of ports) {
    const key = `${one.port.containerPort} ${one.port.protocol}`;
    const others = before.get(key) ?? [];
    for (const text of lonelyAddress(one)) found.push(text);
    for (const other of others) {
      if (++pairs > MAX_PAIRS || found.length >= MAX_PORT_WARNINGS) return found;
      for (const text of collisions(one, other)) found.push(text);
    }
    others.push(one);
    before.set(key, others);
  }
  return found;
}

function lonelyAddress({ at, port }: PlacedPort): string[] {
  const { name = "", hostPort = 0, containerPort = 0, protocol = "", hostIP = "" } = port;
  if (hostIP === "" || hostPort !== 0) return [];
  const shown = `{Name:${name} HostPort:${hostPort} ContainerPort:${containerPort} Protocol:${protocol} HostIP:${hostIP}}`;
  return [`${at}: hostIP set without hostPort: ${shown}`];
}

/** Warnings about two ports with the same number and protocol. */
function collisions({ at, port }: PlacedPort, other: PlacedPort): string[] {
  const { hostIP = "", hostPort = 0 } = port;
  const { hostIP: otherIP = "", hostPort: otherPort = 0 } = other.port;
  if (hostIP === otherIP && hostPort === otherPort) return [`${at}: duplicate port definition with ${other.at}`];
  if (hostPort === 0 || otherPort === 0) return [`${at}: overlapping port definition with ${other.at}`];
  if (hostPort !== otherPort || (hostIP === "") === (otherIP === "")) return [];
  return [`${at}: dangerously ambiguous port definition with ${other.at}`];
}

function nameCollisions(ports: readonly PlacedPort[]): string[] {
  const first = new Map<string, string>();
  return ports.flatMap(({ at, port: { name = "" } }) => {
    const other = first.get(name);
    if (name !== "" && other === undefined) first.set(name, at);
    if (other === undefined) return [];
    const text = `duplicate port name ${quote(name)} with ${other}, services and probes that select ports by name will use ${other}`;
    return [`${at}: ${text}`];
  });
}
