import { controllerOf } from "../../controllers/shared/owners.ts";
import type { ContainerBehaviour, ContainerInstance, ContainerProcess, Exit, Health } from "./behaviour.ts";
import { healthAt, probeTimes } from "./probe-times.ts";

/** How long containers run that are to end. */
const MOMENT_MS = 1000;
const TERMINATED = 143;

/**
 * Containers run for ever and their probes succeed. Init containers and containers of Jobs exit with 0 after a moment.
 * All images can be pulled.
 */
export const defaultBehaviour: ContainerBehaviour = {
  pullError: () => undefined,
  start: (instance) => new DefaultProcess(instance),
  hasFunction: () => false,
};

class DefaultProcess implements ContainerProcess {
  exit: Exit | undefined;
  readonly #times: ReturnType<typeof probeTimes>;
  readonly #isInterrupted: boolean;
  readonly #resumed: ContainerInstance["resumed"];

  constructor({ pod, container, role, startedMs, resumed }: ContainerInstance) {
    this.#times = probeTimes(container, startedMs);
    this.#resumed = resumed;
    // A server ends well when it is stopped. Work that is interrupted has not succeeded.
    this.#isInterrupted = role === "main" && pod.spec?.restartPolicy !== "Always";
    const ends = role === "init" || (role === "main" && controllerOf(pod)?.kind === "Job");
    if (ends) this.exit = { atMs: startedMs + MOMENT_MS, code: 0 };
  }

  health(nowMs: number): Health {
    // Times in a status are whole seconds: a container that was ready stays ready.
    if (this.#resumed?.isReady) return { isStarted: true, isReady: true };
    return healthAt(this.#times, nowMs);
  }

  stop(nowMs: number): void {
    if (this.exit && this.exit.atMs <= nowMs) return;
    this.exit = { atMs: nowMs, code: this.#isInterrupted ? TERMINATED : 0 };
  }

  close(): void {}
}
