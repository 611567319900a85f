import type { ContainerStatus } from "../../../kinds/types/pod-status.ts";
import type { ContainerRunner } from "./container-runner.ts";
import { waitingStatus } from "./container-status.ts";
import { exitCodeOf, hasStarted, isInitialized, isReset, isRunning, type PodContainer } from "./containers.ts";
import type { PodTurn } from "./pod-turn.ts";

/** Starts the containers that are due: init containers one after the other, then all others. */
export function runContainers(turn: PodTurn, runner: ContainerRunner): void {
  const isPodInitialized = initialize(turn, runner);
  if (isPodInitialized) {
    for (const one of turn.of("main")) {
      if (!hasBegun(turn.status(one))) runner.start(turn, one);
      else if (!isRunning(turn.status(one))) runner.restart(turn, one);
      else if (hasNewImage(turn, one))
        runner.replace(turn, one, `Container ${one.name} definition changed, will be restarted`);
    }
  }
  // Ephemeral containers do not wait for others and are never restarted.
  for (const one of turn.of("ephemeral")) if (!hasStarted(turn.status(one))) runner.start(turn, one);
  markWaiting(turn);
}

const hasBegun = (status: ContainerStatus | undefined) => hasStarted(status) && !isReset(status);

/** Runs init containers and sidecars. Returns whether the other containers may start. */
function initialize(turn: PodTurn, runner: ContainerRunner): boolean {
  const hasRun = turn.of("main").some((one) => hasBegun(turn.status(one)));
  for (const one of turn.of("init", "sidecar")) {
    const status = turn.status(one);
    if (hasRun && one.role === "init") continue;
    if (!hasBegun(status)) runner.start(turn, one);
    else if (one.role === "sidecar" && isRunning(status) && hasNewImage(turn, one)) {
      runner.replace(turn, one, `Init container ${one.name} definition changed, will be restarted`);
    } else if (!isRunning(status) && (one.role === "sidecar" || exitCodeOf(status) !== 0)) runner.restart(turn, one);
    // An init container may end at once, or fail at once and be restarted.
    if (!hasRun && !isInitialized(one, turn.status(one))) return false;
  }
  return true;
}

/** Upstream: containerChanged. Such a container is started again, whatever its restart policy says. */
function hasNewImage(turn: PodTurn, one: PodContainer): boolean {
  const { image } = turn.status(one) ?? {};
  return image !== undefined && image !== one.container.image;
}

/** Containers that wait for others, or for the volumes of the Pod. Upstream: defaultWaitingState */
export function markWaiting(turn: PodTurn): void {
  const reason = turn.of("init", "sidecar").length > 0 ? "PodInitializing" : "ContainerCreating";
  for (const one of turn.containers) {
    if (turn.status(one) === undefined) turn.set(one, waitingStatus(one, undefined, { reason }));
  }
}
