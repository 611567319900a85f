import type { Call } from "../../base/api/call.ts";
import type { Clock } from "../../base/util/clock.ts";

const REMEMBER_MS = 10_000;
const MAX_REMEMBERED = 1000;

/**
 * Remembers which writes used up their meter, by user and resource. Further ones of the same user go to the other thread at
 * once, instead of using up 20 ms of the event loop each.
 */
export class CostlyCalls {
  readonly #clock: Pick<Clock, "monotonic">;
  readonly #until = new Map<string, number>();

  constructor(clock: Pick<Clock, "monotonic">) {
    this.#clock = clock;
  }

  /** Whether a call like this one was costly within the last ten seconds. */
  has(call: Call): boolean {
    if (this.#until.size === 0 || call.info.verb === "get") return false;
    const key = keyOf(call);
    const until = this.#until.get(key);
    if (until === undefined) return false;
    if (this.#clock.monotonic() < until) return true;
    this.#until.delete(key);
    return false;
  }

  add(call: Call): void {
    const key = keyOf(call);
    this.#until.delete(key);
    this.#until.set(key, this.#clock.monotonic() + REMEMBER_MS);
    const [oldest] = this.#until.keys();
    if (this.#until.size > MAX_REMEMBERED && oldest !== undefined) this.#until.delete(oldest);
  }
}

function keyOf({ user, info: { verb, group, resource, subresource } }: Call): string {
  return `${user.name}\n${verb} ${group}/${resource}/${subresource}`;
}
