import type { ContainerRunner, Ending } from "./container-runner.ts";
import { isRunning } from "./containers.ts";
import type { PodTurn } from "./pod-turn.ts";

/**
 * Stops all containers: sidecars after all others, in reverse order, unless the time is over. Hooks of all run at once.
 * Returns whether all have stopped.
 */
export function stopContainers(turn: PodTurn, runner: ContainerRunner, ending: Ending): boolean {
  const others = turn.of("init", "main", "ephemeral");
  for (const one of others) runner.stop(turn, one, ending);
  let isItsTurn = !others.some((one) => isRunning(turn.status(one)));
  for (const one of turn.of("sidecar").reverse()) {
    runner.stop(turn, one, ending, { isItsTurn });
    isItsTurn &&= !isRunning(turn.status(one));
  }
  return isItsTurn;
}
