import type { KubeObject } from "../../../api/object.ts";
import { readNumber, readText } from "../../cells.ts";

/**
 * How long a deleted pod may take to end, in seconds: what was asked for, else what its spec says. A pod that runs
 * nowhere, or no longer, ends at once.
 */
export function podGracePeriodSeconds(pod: KubeObject, requested: number | undefined): number {
  const phase = readText(pod, ".status.phase");
  if (readText(pod, ".spec.nodeName") === "" || phase === "Failed" || phase === "Succeeded") return 0;
  const seconds = requested ?? readNumber(pod, ".spec.terminationGracePeriodSeconds");
  // Compat: a negative value means one second, not none.
  return seconds < 0 ? 1 : seconds;
}
