import type { ContainerStatus, PodStatus } from "../../../kinds/types/pod-status.ts";
import type { Pod } from "../../../kinds/types/workloads.ts";
import { hasFinished } from "../../controllers/shared/pods.ts";
import type { ContainerBehaviour } from "../behaviour/behaviour.ts";
import type { PodPlacement } from "../behaviour/container-env.ts";
import type { Shortage } from "../node-resources.ts";
import { podConditions } from "./conditions.ts";
import { ContainerRunner, type Ending } from "./container-runner.ts";
import { graceMs, isRunning, type PodContainer } from "./containers.ts";
import { phaseOf } from "./phase.ts";
import { podLevelStatus } from "./pod-level-resources.ts";
import type { PodProblems } from "./pod-problems.ts";
import { PodTurn, type RecordPodEvent } from "./pod-turn.ts";
import { type PendingResize, resizeContainers } from "./resize.ts";
import { couldRestartAll, restartAll } from "./restart-all.ts";
import { markWaiting, runContainers } from "./run-containers.ts";
import { stopContainers } from "./stop-containers.ts";
import { VolumeMounts } from "./volume-mounts.ts";

const DEADLINE = {
  reason: "DeadlineExceeded",
  message: "Pod was active on the node longer than the specified deadline",
};

/** What the node gives a Pod. */
export interface PodPlace extends PodPlacement {
  /** What the node lacks for the Pod as its spec is now. */
  shortage(pod: Pod): Shortage | undefined;
}

/** The result of the work on a Pod at one moment. */
export interface PodStep {
  readonly status: PodStatus;
  /** When the Pod must be looked at again. Undefined: when something changes. */
  readonly dueMs: number | undefined;
  /** The Pod is being deleted, and all containers have stopped. */
  readonly isStopped: boolean;
}

/** What is going on besides the states of containers. */
interface WorkState {
  readonly resizePending: PendingResize | undefined;
  /** Undefined if no exit restarts all containers. */
  readonly isRestarting: boolean | undefined;
}

/** Runs one Pod. What it keeps in memory can be derived from the status of the Pod. */
export class PodWorker {
  readonly uid: string;
  readonly runner: ContainerRunner;
  readonly #record: (pod: Pod) => RecordPodEvent;
  readonly #mounts = new VolumeMounts();
  /** Since when containers are being stopped for another reason than deletion. */
  #endingMs: number | undefined;

  /** `changed` is called when a container changes by itself. */
  constructor(pod: Pod, behaviour: ContainerBehaviour, record: (pod: Pod) => RecordPodEvent, changed: () => void) {
    this.uid = pod.metadata.uid ?? "";
    this.runner = new ContainerRunner(behaviour, changed);
    this.#record = record;
  }

  close(): void {
    this.runner.close();
  }

  /** Does what is due and returns the status to report. */
  step(pod: Pod, place: PodPlace, problems: PodProblems, nowMs: number): PodStep {
    const turn = new PodTurn(pod, place, problems, nowMs, this.#record(pod));
    const { status: before = {}, metadata } = pod;
    const startTime = before.startTime ?? turn.now;
    for (const one of turn.containers) this.runner.observe(turn, one);
    const isLate = !hasFinished(pod) && this.#isLate(turn, startTime);
    const ending = this.#ending(turn, isLate);
    let resizePending: PendingResize | undefined;
    const hasVolumes = this.#mounts.mount(turn);
    const mayRun = hasVolumes && ending === undefined;
    const restart = mayRun ? restartAll(turn, this.runner) : undefined;
    if (!hasVolumes) markWaiting(turn);
    else if (mayRun && restart === undefined) {
      resizePending = resizeContainers(turn, this.runner, place);
      runContainers(turn, this.runner);
      this.#stopSidecars(turn);
    }
    const isStopped = ending !== undefined && stopContainers(turn, this.runner, ending);
    // Upstream: mergePodStatus, which reports no final phase while containers run.
    const hasFailed = isLate && isStopped;
    const phase = hasFailed ? "Failed" : nextPhase(turn, isStopped);
    const status = this.#status(turn, { ...before, startTime, ...(hasFailed && DEADLINE) }, phase, {
      ...place,
      ...(!hasVolumes && { podIPs: [] }),
      resizePending,
      isRestarting: couldRestartAll(pod) ? restart === "stopping" : undefined,
    });
    return { status, dueMs: turn.dueMs, isStopped: isStopped && metadata.deletionTimestamp !== undefined };
  }

  #isLate(turn: PodTurn, startTime: string): boolean {
    const { activeDeadlineSeconds } = turn.pod.spec ?? {};
    if (activeDeadlineSeconds === undefined) return false;
    const deadlineMs = Date.parse(startTime) + activeDeadlineSeconds * 1000;
    if (turn.nowMs < deadlineMs) {
      turn.wakeAt(deadlineMs);
      return false;
    }
    if (this.#endingMs === undefined) turn.record("Normal", DEADLINE.reason, DEADLINE.message);
    return true;
  }

  #ending({ pod, nowMs }: PodTurn, isLate: boolean): Ending | undefined {
    const { deletionTimestamp, deletionGracePeriodSeconds = 0 } = pod.metadata;
    if (deletionTimestamp !== undefined) {
      const deadlineMs = Date.parse(deletionTimestamp);
      return { sinceMs: deadlineMs - deletionGracePeriodSeconds * 1000, deadlineMs };
    }
    if (!isLate && !hasFinished(pod)) return undefined;
    this.#endingMs ??= nowMs;
    return { sinceMs: this.#endingMs, deadlineMs: this.#endingMs + graceMs(pod) };
  }

  /** Sidecars run until all other containers have ended. */
  #stopSidecars(turn: PodTurn): void {
    const sidecars = turn.of("sidecar").filter((one) => isRunning(turn.status(one)));
    if (sidecars.length === 0) return;
    const withoutSidecars = turn.containers.filter(({ role }) => role !== "sidecar");
    const phase = phaseOf({ pod: turn.pod, containers: withoutSidecars, statuses: turn.statuses, isEnding: false });
    if (phase !== "Succeeded" && phase !== "Failed") return;
    this.#endingMs ??= turn.nowMs;
    stopContainers(turn, this.runner, { sinceMs: this.#endingMs, deadlineMs: this.#endingMs + graceMs(turn.pod) });
  }

  #status(
    turn: PodTurn,
    before: PodStatus,
    phase: string,
    { hostIP, podIPs, resizePending, isRestarting }: PodPlace & WorkState,
  ): PodStatus {
    const { pod, statuses, containers, now } = turn;
    const hasSandbox = (phase === "Pending" || phase === "Running") && podIPs.length > 0;
    const statusesOf = (some: readonly PodContainer[]): ContainerStatus[] =>
      some.map((one) => turn.status(one)).filter((status) => status !== undefined);
    const initStatuses = statusesOf(turn.of("init", "sidecar"));
    const ephemeralStatuses = statusesOf(turn.of("ephemeral"));
    const { generation } = pod.metadata;
    return {
      ...before,
      ...(resizePending === undefined && podLevelStatus(pod)),
      ...(generation !== undefined && { observedGeneration: generation }),
      phase,
      conditions: podConditions({ pod, containers, statuses, phase, hasSandbox, now, resizePending, isRestarting }),
      hostIP,
      hostIPs: [{ ip: hostIP }],
      ...(podIPs[0] !== undefined && { podIP: podIPs[0], podIPs: podIPs.map((ip) => ({ ip })) }),
      ...(initStatuses.length > 0 && { initContainerStatuses: initStatuses }),
      containerStatuses: statusesOf(turn.of("main")),
      ...(ephemeralStatuses.length > 0 && { ephemeralContainerStatuses: ephemeralStatuses }),
    };
  }
}

/** A Pod never leaves a final phase. */
function nextPhase({ pod, containers, statuses }: PodTurn, isEnding: boolean): string {
  const { phase = "Pending" } = pod.status ?? {};
  return hasFinished(pod) ? phase : phaseOf({ pod, containers, statuses, isEnding });
}
