import type { Taint } from "../../../kinds/types/node.ts";
import type { Toleration } from "../../../kinds/types/pod.ts";

/** Whether one of the tolerations tolerates each taint with one of these effects. */
export function toleratesTaints(
  tolerations: readonly Toleration[],
  taints: readonly Taint[],
  effects: readonly string[],
): boolean {
  const relevant = taints.filter(({ effect }) => effects.includes(effect ?? ""));
  return matchingTolerations(tolerations, relevant) !== undefined;
}

/** The first toleration of each taint. Undefined if a taint is not tolerated. Upstream: GetMatchingTolerations */
export function matchingTolerations(
  tolerations: readonly Toleration[],
  taints: readonly Taint[],
): Toleration[] | undefined {
  const matching: Toleration[] = [];
  for (const taint of taints) {
    const found = tolerations.find((toleration) => tolerates(toleration, taint));
    if (found === undefined) return undefined;
    matching.push(found);
  }
  return matching;
}

/** Whether two taints are the same. Their values may differ. Upstream: MatchTaint */
export function isSameTaint(one: Taint, other: Taint): boolean {
  return one.key === other.key && one.effect === other.effect;
}

/**
 * Whether a toleration tolerates a taint of a node or device. The gate TaintTolerationComparisonOperators is off: the
 * operators Lt and Gt tolerate nothing.
 */
export function tolerates({ key = "", operator = "", value = "", effect = "" }: Toleration, taint: Taint): boolean {
  if (effect !== "" && effect !== taint.effect) return false;
  if (key !== "" && key !== taint.key) return false;
  if (operator === "" || operator === "Equal") return value === (taint.value ?? "");
  return operator === "Exists";
}
