import type { ContainerStatus } from "../../../kinds/types/pod-status.ts";
import type { ContainerBehaviour, ContainerProcess } from "../behaviour/behaviour.ts";
import { ContainerProblems } from "./container-problems.ts";
import { endedStatus, startedStatus, waitingStatus, withHealth } from "./container-status.ts";
import { graceMs, isRunning, type PodContainer } from "./containers.ts";
import { ImagePulls } from "./image-pulls.ts";
import type { PodTurn } from "./pod-turn.ts";
import { Backoffs, podText, printDelay, restarts } from "./restarts.ts";

const KILLED: Readonly<Record<"liveness" | "startup", string>> = {
  liveness: "failed liveness probe",
  startup: "failed startup probe",
};

/** Containers have at least so long to end by themselves. Upstream: minimumGracePeriodInSeconds */
const MIN_GRACE_MS = 2000;

/** Since when a Pod or container is ending, and until when it must have stopped. */
export interface Ending {
  readonly sinceMs: number;
  readonly deadlineMs: number;
}

interface StopOptions {
  /** Of the Event. */
  readonly message?: string;
  readonly isItsTurn?: boolean;
}

/** Starts, restarts and stops the containers of one Pod. */
export class ContainerRunner {
  readonly #behaviour: ContainerBehaviour;
  readonly #changed: () => void;
  readonly #processes = new Map<string, ContainerProcess>();
  readonly #previous = new Map<string, ContainerProcess>();
  readonly #backoffs = new Backoffs();
  readonly #pulls: ImagePulls;
  readonly #problems = new ContainerProblems();
  readonly #stopping = new Set<string>();
  /** Containers that are being stopped alone, to be started again. */
  readonly #killed = new Map<string, Ending>();
  /** The status with which each container was started last. */
  readonly #started = new Map<string, ContainerStatus>();

  /** `changed` is called when a container ends or its health changes by itself. */
  constructor(behaviour: ContainerBehaviour, changed: () => void) {
    this.#behaviour = behaviour;
    this.#changed = changed;
    this.#pulls = new ImagePulls(behaviour);
  }

  /** The last process of a container. It may have ended. */
  process(name: string): ContainerProcess | undefined {
    return this.#processes.get(name);
  }

  /** The process before the last restart. */
  previousProcess(name: string): ContainerProcess | undefined {
    return this.#previous.get(name);
  }

  close(): void {
    for (const process of this.#processes.values()) process.close();
    this.#processes.clear();
  }

  /** Brings the status of a container up to date: whether it has ended, and what its probes have found out. */
  observe(turn: PodTurn, one: PodContainer): void {
    const status = turn.status(one);
    if (status === undefined || !isRunning(status)) return;
    const process = this.#processes.get(one.name) ?? this.#resume(turn, one, status);
    if (this.#observeExit(turn, one, process)) return;
    const health = process.health(turn.nowMs);
    turn.wakeAt(health.changesMs);
    turn.set(one, withHealth(one, status, health));
    // A Pod that is being deleted is not probed any more.
    if (health.failed && !turn.pod.metadata.deletionTimestamp) this.#killUnhealthy(turn, one, health.failed);
    const killed = this.#killed.get(one.name);
    if (killed) this.stop(turn, one, killed);
  }

  /** Returns whether the container has ended. */
  #observeExit(turn: PodTurn, one: PodContainer, { exit }: ContainerProcess): boolean {
    const isOver = exit !== undefined && exit.atMs <= turn.nowMs;
    if (isOver) turn.set(one, endedStatus(one, turn.status(one) ?? {}, exit));
    else turn.wakeAt(exit?.atMs);
    return isOver;
  }

  /** Starts a container that does not run, unless it has to wait. */
  start(turn: PodTurn, one: PodContainer): void {
    const before = turn.status(one);
    if (this.#startAgain(turn, one)) return;
    const refusal =
      this.#problems.ofImage(turn, one) ??
      this.#pulls.refusal(turn, one) ??
      this.#problems.ofConfiguration(turn, one, () => this.#pulls.recordPulled(turn, one));
    if (refusal) {
      turn.set(one, waitingStatus(one, before, refusal));
      return;
    }
    const status = startedStatus(turn.pod, one, before, turn.nowMs);
    this.#stopping.delete(one.name);
    this.#killed.delete(one.name);
    this.#started.set(one.name, status);
    turn.set(one, status);
    this.#pulls.recordPulled(turn, one);
    turn.record("Normal", "Created", "Container created", one);
    turn.record("Normal", "Started", "Container started", one);
    this.#launch(turn, one, status, turn.nowMs, undefined);
    this.observe(turn, one);
  }

  /** Starts a container that has ended again after its delay, if its restart policy says so. Returns whether it does. */
  restart(turn: PodTurn, one: PodContainer): boolean {
    const status = turn.status(one);
    const code = status?.state?.terminated?.exitCode ?? status?.lastState?.terminated?.exitCode;
    if (status === undefined || code === undefined || !restarts(one.container, turn.pod, code)) return false;
    if (this.#startAgain(turn, one)) return true;
    const restMs = this.#backoffs.restMs(one.name, status, turn.nowMs);
    if (restMs > 0) {
      this.#backOff(turn, one, status);
      turn.wakeAt(turn.nowMs + restMs);
      return true;
    }
    this.#backoffs.restarted(one.name, status, turn.nowMs);
    this.start(turn, one);
    return true;
  }

  /** Stops a container, and starts it again when it has ended. */
  replace(turn: PodTurn, one: PodContainer, message: string): void {
    this.kill(turn, one, graceMs(turn.pod), message);
    if (!isRunning(turn.status(one))) this.start(turn, one);
  }

  /**
   * Stops a container after its hook. Its status changes when it has ended, which may be now. `isItsTurn`: if false, only
   * the hook runs before the deadline. Upstream: killContainer
   */
  stop(turn: PodTurn, one: PodContainer, ending: Ending, { message, isItsTurn = true }: StopOptions = {}): void {
    const status = turn.status(one);
    if (status === undefined || !isRunning(status)) return;
    const { sinceMs, deadlineMs } = ending;
    if (!this.#stopping.has(one.name)) {
      turn.record("Normal", "Killing", message ?? `Stopping container ${one.name}`, one);
      this.#stopping.add(one.name);
    }
    const hookMs = (one.container.lifecycle?.preStop?.sleep?.seconds ?? 0) * 1000;
    const stopMs = isItsTurn ? Math.min(sinceMs + hookMs, deadlineMs) : deadlineMs;
    if (turn.nowMs < stopMs) {
      turn.wakeAt(stopMs);
      return;
    }
    const process = this.#processes.get(one.name) ?? this.#resume(turn, one, status);
    process.stop(turn.nowMs, Math.max(MIN_GRACE_MS, deadlineMs - turn.nowMs));
    this.#observeExit(turn, one, process);
  }

  /** Stops a container alone. It is started again when it has ended. */
  kill(turn: PodTurn, one: PodContainer, limitMs: number, message: string): void {
    const ending = this.#killed.get(one.name) ?? { sinceMs: turn.nowMs, deadlineMs: turn.nowMs + limitMs };
    this.#killed.set(one.name, ending);
    this.stop(turn, one, ending, { message });
  }

  /** Whether the container runs already, because the write of its last start has failed. */
  #startAgain(turn: PodTurn, one: PodContainer): boolean {
    const before = turn.status(one);
    const started = this.#started.get(one.name);
    if (started === undefined) return false;
    const wanted = startedStatus(turn.pod, one, before, turn.nowMs);
    if (wanted.containerID !== started.containerID) return false;
    turn.set(one, started);
    this.observe(turn, one);
    return true;
  }

  #backOff(turn: PodTurn, one: PodContainer, status: ContainerStatus): void {
    const { name } = one;
    const pod = podText(turn.pod);
    const delay = printDelay(this.#backoffs.delayMs(name));
    if (status.state?.terminated) {
      const message = `Back-off restarting failed container ${name} in pod ${pod}`;
      turn.record("Warning", "BackOff", message, one);
    }
    const message = `back-off ${delay} restarting failed container=${name} pod=${pod}`;
    turn.set(one, waitingStatus(one, status, { reason: "CrashLoopBackOff", message }));
  }

  #killUnhealthy(turn: PodTurn, one: PodContainer, probe: "liveness" | "startup"): void {
    const policy = one.container.restartPolicy ?? turn.pod.spec?.restartPolicy;
    const what = `Container ${one.name} ${KILLED[probe]}`;
    const ownSeconds = one.container[`${probe}Probe`]?.terminationGracePeriodSeconds;
    const limitMs = ownSeconds === undefined ? graceMs(turn.pod) : ownSeconds * 1000;
    const message = policy === "Never" ? what : `${what}, will be restarted`;
    this.kill(turn, one, limitMs, message);
  }

  /** A container that has been running since before this server started. */
  #resume(turn: PodTurn, one: PodContainer, status: ContainerStatus): ContainerProcess {
    const startedMs = Date.parse(status.state?.running?.startedAt ?? "") || turn.nowMs;
    const resumed = { isStarted: status.started ?? false, isReady: status.ready ?? false };
    return this.#launch(turn, one, status, startedMs, resumed);
  }

  #launch(
    turn: PodTurn,
    one: PodContainer,
    { restartCount = 0 }: ContainerStatus,
    startedMs: number,
    resumed: { isStarted: boolean; isReady: boolean } | undefined,
  ): ContainerProcess {
    const { container, role } = one;
    const process = this.#behaviour.start({
      pod: turn.pod,
      place: turn.place,
      container,
      role,
      startedMs,
      restartCount,
      resumed,
      changed: this.#changed,
      record: (type, reason, message) => turn.record(type, reason, message, one),
    });
    const before = this.#processes.get(one.name);
    if (before) this.#previous.set(one.name, before);
    this.#processes.set(one.name, process);
    return process;
  }
}
