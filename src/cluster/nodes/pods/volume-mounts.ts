import type { PodTurn } from "./pod-turn.ts";

/** Upstream: exponentialbackoff of the operation executor */
const FIRST_MS = 500;
const MAX_MS = 122_000;

/** The volumes of one Pod, which it waits for before its containers are created. */
export class VolumeMounts {
  #delayMs = 0;
  #retryMs = 0;

  /** Returns whether all volumes are mounted. If not, it is tried again after a while. */
  mount(turn: PodTurn): boolean {
    const { volumes } = turn.problems;
    const isWaiting = turn.nowMs < this.#retryMs;
    if (volumes.length === 0 && !isWaiting) return true;
    if (!isWaiting) {
      for (const message of volumes) turn.record("Warning", "FailedMount", message);
      this.#delayMs = this.#delayMs === 0 ? FIRST_MS : Math.min(2 * this.#delayMs, MAX_MS);
      this.#retryMs = turn.nowMs + this.#delayMs;
    }
    turn.wakeAt(this.#retryMs);
    return false;
  }
}
