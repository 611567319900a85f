import type { Job, OnExitCodes, PodFailurePolicyRule } from "../../../../kinds/built-in/batch/job-types.ts";
import type { ContainerStatus } from "../../../../kinds/types/pod-status.ts";
import type { Pod } from "../../../../kinds/types/workloads.ts";
import { Indexes } from "./indexes.ts";

/** How a failed Pod is handled. */
export interface FailureMatch {
  /** Of the first rule that matches. */
  readonly action?: string;
  /** Whether the failure counts towards the limits. */
  readonly counts: boolean;
  /** Why the Job fails. */
  readonly message?: string;
}

/** Matches a failed Pod with `spec.podFailurePolicy`. */
export function matchFailure({ spec }: Job, pod: Pod): FailureMatch {
  for (const [index, rule] of (spec.podFailurePolicy?.rules ?? []).entries()) {
    const what = matchRule(rule, pod);
    if (what === undefined) continue;
    const { action = "" } = rule;
    const message = `${what} matching ${action} rule at index ${index}`;
    return { action, counts: action !== "Ignore", ...(action === "FailJob" && { message }) };
  }
  return { counts: true };
}

/** What of the Pod the rule matches, or undefined if it does not. */
function matchRule({ onExitCodes, onPodConditions = [] }: PodFailurePolicyRule, pod: Pod): string | undefined {
  const { status = {}, metadata } = pod;
  const path = `${metadata.namespace}/${metadata.name}`;
  if (onExitCodes) {
    const statuses = [...(status.containerStatuses ?? []), ...(status.initContainerStatuses ?? [])];
    const found = statuses.find((one) => matchesExit(one, onExitCodes));
    return found && `Container ${found.name} for pod ${path} failed with exit code ${exitCode(found)}`;
  }
  const condition = status.conditions?.find((one) =>
    onPodConditions.some((pattern) => pattern.type === one.type && pattern.status === one.status),
  );
  return condition && `Pod ${path} has condition ${condition.type}`;
}

const exitCode = ({ state }: ContainerStatus): number => state?.terminated?.exitCode ?? 0;

function matchesExit(status: ContainerStatus, { containerName, operator, values }: OnExitCodes): boolean {
  const code = exitCode(status);
  if (code === 0 || (containerName !== undefined && containerName !== status.name)) return false;
  return (values ?? []).includes(code) === (operator === "In");
}

/** Why these succeeded indexes fulfil `spec.successPolicy`, or undefined if they do not. */
export function matchSuccess({ spec }: Job, succeeded: Indexes): string | undefined {
  if (succeeded.isEmpty) return undefined;
  const index = (spec.successPolicy?.rules ?? []).findIndex(({ succeededIndexes, succeededCount }) => {
    const enough = (count: number) => succeededCount !== undefined && count >= succeededCount;
    if (succeededIndexes === undefined) return enough(succeeded.size);
    const required = Indexes.parse(succeededIndexes, spec.completions ?? 0);
    const common = required.common(succeeded);
    return !required.isEmpty && (common === required.size || enough(common));
  });
  return index < 0 ? undefined : `Matched rules at index ${index}`;
}
