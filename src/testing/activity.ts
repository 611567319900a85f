import { setImmediate as nextTurn } from "node:timers/promises";

/** Turns of the event loop without any sign of life after which nothing in memory is under way. */
const CALM_TURNS = 6;
/** The same while a request is being answered: it may be waiting for a thread or for a socket. */
const BUSY_TURNS = 60;

/** Notices everything that a control plane does: requests, its own loops, and what is read and written for them. */
export class Activity {
  #moves = 0;
  #open = 0;
  #requests = 0;

  /** Something has been read, written or passed on. */
  move(): void {
    this.#moves++;
  }

  /** How many signs of life there have been. */
  get moves(): number {
    return this.#moves;
  }

  /** How many requests are being answered, watches aside. */
  get open(): number {
    return this.#open;
  }

  /** How many requests have come from clients. */
  get requests(): number {
    return this.#requests;
  }

  /** A request has come. The function that is returned tells that it is answered. */
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

  /** Resolves when whatever waits for nothing but its turn has gone on. `own` are requests that are known to wait. */
  async calm(own = 0): Promise<void> {
    for (let turns = 0, seen = this.#moves; turns < (this.#open > own ? BUSY_TURNS : CALM_TURNS); turns++) {
      await nextTurn();
      if (this.#moves === seen) continue;
      seen = this.#moves;
      turns = -1;
    }
  }
}
