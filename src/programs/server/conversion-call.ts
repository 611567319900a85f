import type { WebhookPoster } from "../../access/webhooks/webhook-client.ts";
import { DeadlineExceeded } from "../../base/net/transport-error.ts";
import type { Clock } from "../../base/util/clock.ts";
import type { CallWebhook } from "../../kinds/custom/conversion-webhook.ts";

/** Compat: `defaultRequestTimeout` of webhooks. */
const TIMEOUT_MS = 30_000;
/** Maximum number of concurrent calls of one webhook. Others wait. */
export const MAX_CALLS = 50;
/** Maximum number of calls that wait for one webhook. */
export const MAX_WAITING = 500;

/** The calls of one webhook. */
class Lane {
  #running = 0;
  readonly #waiting: (() => void)[] = [];

  get isIdle(): boolean {
    return this.#running === 0;
  }

  /** Runs `call` when it is its turn. `call` is given the time that is left. */
  async run<T>(clock: Pick<Clock, "monotonic">, call: (timeoutMs: number) => Promise<T>): Promise<T> {
    const startMs = clock.monotonic();
    if (this.#running >= MAX_CALLS) {
      if (this.#waiting.length >= MAX_WAITING) throw new Error("too many requests wait for the webhook");
      await new Promise<void>((resolve) => this.#waiting.push(resolve));
    } else this.#running++;
    try {
      const leftMs = TIMEOUT_MS - (clock.monotonic() - startMs);
      if (leftMs <= 0) throw new DeadlineExceeded();
      return await call(leftMs);
    } finally {
      // The next call takes over the place.
      const next = this.#waiting.shift();
      if (next) next();
      else this.#running--;
    }
  }
}

/**
 * Returns a function that calls conversion webhooks. Each webhook has a limit of its own: one that hangs, or that reads from
 * this server what has to be converted by itself, holds up no other.
 */
export function conversionCall(client: WebhookPoster, clock: Pick<Clock, "monotonic">): CallWebhook {
  const lanes = new Map<string, Lane>();
  return async (config, body, limits) => {
    const { url, service } = config;
    const key = JSON.stringify([url, service?.namespace, service?.name, service?.port, service?.path]);
    const lane = lanes.get(key) ?? new Lane();
    lanes.set(key, lane);
    try {
      return await lane.run(clock, (timeoutMs) => client.post({ config, body, timeoutMs, limits }));
    } finally {
      if (lane.isIdle) lanes.delete(key);
    }
  };
}
