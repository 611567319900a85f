import type { KubeObject } from "../../../../base/api/object.ts";
import { readNumber, readText } from "../../cells.ts";

/**
 * The deletionGracePeriodSeconds of a pod: that of the DeleteOptions, else terminationGracePeriodSeconds; 0 for a pod
 * without a node, or one that has ended.
 */
export function podGracePeriodSeconds(pod: KubeObject, requested: number | undefined): number {
  const phase = readText(pod, ".status.phase");
  if (readText(pod, ".spec.nodeName") === "" || phase === "Failed" || phase === "Succeeded") return 0;
  const seconds = requested ?? readNumber(pod, ".spec.terminationGracePeriodSeconds");
  // Compat: a negative gracePeriodSeconds means 1, not 0.
  return seconds < 0 ? 1 : seconds;
}
