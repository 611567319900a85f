import type { ContainerRunner } from "./container-runner.ts";
import { isRunning, type PodContainer } from "./containers.ts";
import type { PodTurn } from "./pod-turn.ts";

/** Since when a Pod is ending, and until when its containers must have stopped. */
export interface Ending {
  readonly sinceMs: number;
  readonly deadlineMs: number;
}

/** Stops all containers: sidecars after all others, in reverse order. Returns whether all have stopped. */
export function stopContainers(turn: PodTurn, runner: ContainerRunner, ending: Ending): boolean {
  const others = turn.of("init", "main", "ephemeral");
  for (const one of others) stop(turn, runner, one, ending);
  if (others.some((one) => isRunning(turn.status(one)))) return false;
  for (const one of turn.of("sidecar").reverse()) {
    stop(turn, runner, one, ending);
    if (isRunning(turn.status(one))) return false;
  }
  return true;
}

function stop(turn: PodTurn, runner: ContainerRunner, one: PodContainer, { sinceMs, deadlineMs }: Ending): void {
  if (!isRunning(turn.status(one))) return;
  const hookMs = (one.container.lifecycle?.preStop?.sleep?.seconds ?? 0) * 1000;
  const stopMs = Math.min(sinceMs + hookMs, deadlineMs);
  if (turn.nowMs < stopMs) turn.wakeAt(stopMs);
  else runner.stop(turn, one, Math.max(0, deadlineMs - turn.nowMs));
}
