import type { ContainerStatus } from "../../../kinds/types/pod-status.ts";
import type { Pod } from "../../../kinds/types/workloads.ts";
import { exitCodeOf, hasStarted, isReset, isRunning, type PodContainer } from "./containers.ts";
import { restarts, terminatedOf } from "./restarts.ts";

/** What the phase of a Pod follows from. */
export interface PhaseInput {
  readonly pod: Pod;
  readonly containers: readonly PodContainer[];
  readonly statuses: ReadonlyMap<string, ContainerStatus>;
  /** No container will be started again. */
  readonly isEnding: boolean;
}

/** The phase of a Pod by the states of its containers. Upstream: getPhase */
export function phaseOf({ pod, containers, statuses, isEnding }: PhaseInput): string {
  const of = (...roles: string[]) => containers.filter(({ role }) => roles.includes(role));
  const statusOf = ({ name }: PodContainer) => statuses.get(name);
  const hasRun = of("main").some((one) => hasStarted(statusOf(one)));
  const isFinal = (one: PodContainer): boolean => {
    const status = statusOf(one);
    const code = status && hasEnded(status) ? terminatedOf(status).exitCode : undefined;
    return code !== undefined && (isEnding || !(isReset(status) || restarts(one.container, pod, code)));
  };
  const isFailure = (one: PodContainer) => isFinal(one) && lastCode(statusOf(one)) !== 0;

  if (of("init").some(isFailure)) return "Failed";
  const isPending = of("init").some(
    (one) => exitCodeOf(statusOf(one)) !== 0 && (isReset(statusOf(one)) || !hasExited(statusOf(one))),
  );
  const sidecarsWait = of("sidecar").some((one) => statusOf(one)?.started !== true);
  const waits = of("main").some((one) => !hasStarted(statusOf(one)));
  if (isPending || (sidecarsWait && !hasRun) || waits) return isEnding ? "Failed" : "Pending";
  if (of("main", "sidecar").some((one) => isRunning(statusOf(one)))) return "Running";
  const main = of("main");
  if (!main.every(isFinal)) return "Running";
  return main.some(isFailure) ? "Failed" : "Succeeded";
}

function hasEnded({ state }: ContainerStatus): boolean {
  return state?.running === undefined;
}

/** Whether a container has ended and waits to be started again. */
function hasExited(status: ContainerStatus | undefined): boolean {
  return status?.state?.waiting !== undefined && status.lastState?.terminated !== undefined;
}

function lastCode(status: ContainerStatus | undefined): number | undefined {
  return status && terminatedOf(status).exitCode;
}
