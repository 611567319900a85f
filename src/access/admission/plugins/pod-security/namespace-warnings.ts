import type { KubeObject } from "../../../../base/api/object.ts";
import { quote } from "../../../../base/go/quote.ts";
import { podSpecOf } from "../../../../kinds/types/pod.ts";
import { type LevelVersion, printLevelVersion } from "./policy.ts";
import { printReasons, violations } from "./standards.ts";

const MAX_PODS = 3000;
const MAX_MS = 1000;

/** Warnings about existing pods of a Namespace that violate its new enforced level. */
export function podWarnings(namespace: string, enforce: LevelVersion, all: readonly KubeObject[]): string[] {
  const pods = distinctFirst(all);
  const deadline = performance.now() + MAX_MS;
  const groups = new Map<string, string[]>();
  let checked = 0;
  for (const pod of pods.slice(0, MAX_PODS)) {
    const { name = "", annotations = {} } = pod.metadata;
    const found = violations(enforce, { annotations, spec: podSpecOf(pod) });
    checked += 1;
    if (found.length > 0) {
      const reasons = printReasons(found);
      groups.set(reasons, [...(groups.get(reasons) ?? []), name]);
    }
    if (performance.now() > deadline) break;
  }
  const warnings: string[] = [];
  if (checked < pods.length) {
    const text = `new PodSecurity enforce level only checked against the first ${checked} of ${pods.length} existing pods`;
    warnings.push(text);
  }
  if (groups.size > 0) {
    const title = `existing pods in namespace ${quote(namespace)} violate the new PodSecurity enforce level`;
    warnings.push(`${title} ${quote(printLevelVersion(enforce))}`);
  }
  return [...warnings, ...[...groups].map(([reasons, names]) => `${printNames(names)}: ${reasons}`).sort()];
}

function printNames(names: readonly string[]): string {
  const [first = ""] = [...names].sort();
  const others = names.length - 1;
  if (others === 0) return first;
  return others === 1 ? `${first} (and 1 other pod)` : `${first} (and ${others} other pods)`;
}

/** Sorts one pod of each controller to the front, because the others are most likely the same. */
function distinctFirst(pods: readonly KubeObject[]): KubeObject[] {
  const seen = new Set<string>();
  const first: KubeObject[] = [];
  const rest: KubeObject[] = [];
  for (const pod of pods) {
    const uid = pod.metadata.ownerReferences?.find(({ controller }) => controller === true)?.uid;
    if (uid === undefined || !seen.has(uid)) first.push(pod);
    else rest.push(pod);
    if (uid !== undefined) seen.add(uid);
  }
  return [...first, ...rest];
}
