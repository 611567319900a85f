import type { Pod } from "../../../kinds/types/workloads.ts";
import type { ContainerRunner } from "./container-runner.ts";
import { isRunning, type PodContainer, podContainers, RESTARTING } from "./containers.ts";
import type { PodTurn } from "./pod-turn.ts";
import { ruleFor } from "./restarts.ts";

/** The condition of a Pod whose containers are all being restarted. */
export const RESTARTING_CONDITION = "AllContainersRestarting";
const MESSAGE = "The container is removed because RestartAllContainers in place";
/** Between the exit and the next start. A kubelet needs about as long. Without it, containers that exit at once never rest. */
const PAUSE_MS = 1000;

/** Whether an exit can restart all containers of a Pod. Upstream: AllContainersCouldRestart */
export function couldRestartAll(pod: Pod): boolean {
  return podContainers(pod).some(({ container: { restartPolicyRules = [] } }) =>
    restartPolicyRules.some(({ action }) => action === "RestartAllContainers"),
  );
}

/**
 * Stops all containers of a Pod and lets them begin anew if one has exited with a code for which a rule says so. Returns
 * how far it is: no container may start in this turn. Upstream: RestartAllContainersOnContainerExits
 */
export function restartAll(turn: PodTurn, runner: ContainerRunner): "stopping" | "stopped" | undefined {
  if (!couldRestartAll(turn.pod)) return undefined;
  const containers = turn.of("init", "sidecar", "main");
  const exits = containers.filter((one) => isTrigger(turn, one));
  const isUnderWay = turn.pod.status?.conditions?.some(
    ({ type, status }) => type === RESTARTING_CONDITION && status === "True",
  );
  if (exits.length === 0 && !isUnderWay) return undefined;
  const ending = { sinceMs: turn.nowMs, deadlineMs: turn.nowMs };
  for (const one of containers) runner.stop(turn, one, ending, { message: "killing" });
  const finishedMs = (one: PodContainer) => Date.parse(turn.status(one)?.state?.terminated?.finishedAt ?? "") || 0;
  const resumeMs = exits.reduce((latestMs, one) => Math.max(latestMs, finishedMs(one)), 0) + PAUSE_MS;
  const isStopped = !containers.some((one) => isRunning(turn.status(one)));
  if (!isStopped || turn.nowMs < resumeMs) {
    if (isStopped) turn.wakeAt(resumeMs);
    return "stopping";
  }
  for (const one of containers) reset(turn, one);
  // The next turn starts them: what happened is visible first.
  turn.wakeAt(turn.nowMs);
  return "stopped";
}

/** Whether the exit of a container restarts all of them. */
function isTrigger(turn: PodTurn, one: PodContainer): boolean {
  const code = turn.status(one)?.state?.terminated?.exitCode;
  return code !== undefined && ruleFor(one.container, code)?.action === "RestartAllContainers";
}

function reset(turn: PodTurn, one: PodContainer): void {
  const before = turn.status(one);
  if (before?.state?.terminated === undefined) return;
  const { restartCount = 0, containerID: _, ...rest } = before;
  turn.set(one, {
    ...rest,
    state: { waiting: { reason: RESTARTING, message: MESSAGE } },
    lastState: { terminated: { exitCode: 137, reason: RESTARTING, message: MESSAGE } },
    restartCount: restartCount + 1,
    ready: false,
    started: false,
  });
}
