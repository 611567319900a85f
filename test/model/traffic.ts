import { setTimeout as sleep } from "node:timers/promises";
import type { Random } from "./random.ts";
import type { Answer } from "./wire.ts";

/** After a write without a response the server may be starting. */
const PAUSE_WITHOUT_ANSWER_MS = 50;

/** Writers that never stop and ignore rejections. */
export class Traffic {
  /** How many writes succeeded. */
  writes = 0;
  readonly #write: (random: Random) => Promise<Answer>;
  readonly #longestPauseMs: number;
  #isRunning = true;

  constructor(write: (random: Random) => Promise<Answer>, longestPauseMs: number) {
    this.#write = write;
    this.#longestPauseMs = longestPauseMs;
  }

  stop(): void {
    this.#isRunning = false;
  }

  /** Writes until stopped. */
  async run(random: Random): Promise<void> {
    while (this.#isRunning) {
      const answer = await this.#write(random).catch(() => undefined);
      if (answer !== undefined && answer.status < 300) this.writes++;
      await sleep(answer === undefined ? PAUSE_WITHOUT_ANSWER_MS : random.between(0, this.#longestPauseMs));
    }
  }
}
