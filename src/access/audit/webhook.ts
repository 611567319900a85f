import type { Clock } from "../../base/util/clock.ts";
import type { Random } from "../../base/util/random.ts";
import type { AuditBackend, ReportLoss } from "./backend.ts";
import type { AuditEvent } from "./event.ts";

/** Options of a WebhookBackend. */
export interface WebhookOptions {
  /** Posts JSON. Rejects unless the response is a 2xx. */
  readonly send: (json: string, signal: AbortSignal) => Promise<void>;
  readonly initialBackoffMs: number;
  readonly clock: Clock;
  readonly random: Random;
  readonly report: ReportLoss;
}

// Compat: DefaultRetryBackoffWithInitialDelay.
const ATTEMPTS = 5;
const FACTOR = 1.5;
const JITTER = 0.2;

/** Posts events as an EventList, with a limited number of retries. */
export class WebhookBackend implements AuditBackend {
  readonly #options: WebhookOptions;
  readonly #closing = new AbortController();
  readonly #hurrying = new AbortController();

  constructor(options: WebhookOptions) {
    this.#options = options;
  }

  async process(events: readonly AuditEvent[]): Promise<boolean> {
    const { send, initialBackoffMs, clock, random, report } = this.#options;
    const items = events.map((event) => event.itemJson).join(",");
    const list = `{"kind":"EventList","apiVersion":"audit.k8s.io/v1","metadata":{},"items":[${items}]}`;
    let delayMs = initialBackoffMs;
    for (let attempt = 1; ; attempt++) {
      try {
        await send(list, this.#closing.signal);
        return true;
      } catch (error) {
        if (attempt === ATTEMPTS || this.#hurrying.signal.aborted) {
          report("webhook", events.length, error);
          return false;
        }
      }
      await clock.sleep(delayMs * (1 + JITTER * random.fraction()), this.#hurrying.signal);
      delayMs *= FACTOR;
    }
  }

  hurry(): void {
    this.#hurrying.abort();
  }

  /** Aborts requests in progress. */
  async close(): Promise<void> {
    this.hurry();
    this.#closing.abort();
  }
}
