import { quietTurns } from "../library/quiet-turns.ts";

/** Idle turns of the event loop after which no in-memory work is pending. */
const CALM_TURNS = 6;
/** The same while a request is being handled: it may be waiting for a thread or a socket. */
const BUSY_TURNS = 60;

/** Tracks the activity of a control plane: requests, its controllers, and their reads and writes. */
export class Activity {
  #moves = 0;
  #open = 0;
  #requests = 0;
  /** Whether a client has used a socket. */
  isRemote = false;

  /** Records that something was read, written or passed on. */
  move(): void {
    this.#moves++;
  }

  /** How many activities were recorded. */
  get moves(): number {
    return this.#moves;
  }

  /** How many requests are being handled, without watches. */
  get open(): number {
    return this.#open;
  }

  /** How many requests clients have sent. */
  get requests(): number {
    return this.#requests;
  }

  /** Records the start of a request. The returned function records its end. */
  begin(isClient: boolean): () => void {
    this.#open++;
    if (isClient) this.#requests++;
    this.move();
    let isOpen = true;
    return () => {
      if (!isOpen) return;
      isOpen = false;
      this.#open--;
      this.move();
    };
  }

  /**
   * Resolves when all work that waits only for the event loop is done. `own` is the number of requests known to wait.
   */
  calm(own = 0): Promise<void> {
    return quietTurns(
      () => (this.#open > own ? BUSY_TURNS : CALM_TURNS),
      () => this.#moves,
    );
  }
}
