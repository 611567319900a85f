import type { Clock, Timer } from "../../base/util/clock.ts";
import type { AuditBackend, ReportLoss } from "./backend.ts";
import type { AuditEvent } from "./event.ts";

/** Batching options: the flags `--audit-log-batch-…` and `--audit-webhook-batch-…`. */
export interface BatchOptions {
  /** Maximum number of queued events. Further events are dropped and counted. */
  readonly bufferSize: number;
  readonly maxSize: number;
  /** How long an event waits at most for its batch to fill. */
  readonly maxWaitMs: number;
  /** Maximum rate of batches per second. If omitted, batches are not throttled. */
  readonly throttle?: { readonly qps: number; readonly burst: number };
  /** Maximum number of concurrent batches. */
  readonly concurrency: number;
}

/** Maximum size of the queue in bytes, in addition to `bufferSize`. */
const MAX_WAITING_BYTES = 64 * 1024 * 1024;

/** `--audit-log-mode=batch`: requests do not wait until their events are written. */
export class BatchBackend implements AuditBackend {
  readonly #backend: AuditBackend;
  readonly #options: BatchOptions;
  readonly #clock: Clock;
  readonly #report: ReportLoss;
  readonly #waiting: AuditEvent[] = [];
  readonly #underWay = new Set<Promise<unknown>>();
  #bytes = 0;
  #timer: Timer | undefined;
  #pumping: Promise<void> | undefined;
  #isClosed = false;
  #tokens: number;
  #tokensAt: number;

  constructor(backend: AuditBackend, options: BatchOptions, clock: Clock, report: ReportLoss) {
    this.#backend = backend;
    this.#options = options;
    this.#clock = clock;
    this.#report = report;
    this.#tokens = options.throttle?.burst ?? 0;
    this.#tokensAt = clock.monotonic();
  }

  process(events: readonly AuditEvent[]): boolean {
    let dropped = 0;
    for (const event of events) {
      const size = event.bytes;
      const isFull = this.#waiting.length >= this.#options.bufferSize || this.#bytes + size > MAX_WAITING_BYTES;
      if (this.#isClosed || isFull) dropped++;
      else {
        this.#waiting.push(event);
        this.#bytes += size;
      }
    }
    if (dropped > 0)
      this.#report("buffered", dropped, new Error(this.#isClosed ? "audit backend shut down" : this.#full()));
    if (this.#waiting.length >= this.#options.maxSize) this.#pump(false);
    else if (this.#waiting.length > 0) {
      this.#timer ??= this.#clock.setTimer(this.#options.maxWaitMs, () => {
        this.#timer = undefined;
        this.#pump(true);
      });
    }
    return true;
  }

  #full(): string {
    return this.#waiting.length < this.#options.bufferSize
      ? `audit buffer full: the next event would exceed ${MAX_WAITING_BYTES} bytes`
      : "audit buffer full; increase --audit-log-batch-buffer-size or --audit-webhook-batch-buffer-size";
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    this.#backend.hurry?.();
    this.#timer?.close();
    this.#timer = undefined;
    await this.#pumping;
    while (this.#waiting.length > 0) await this.#backend.process(this.#take());
    await Promise.all(this.#underWay);
    await this.#backend.close();
  }

  #pump(isDue: boolean): void {
    this.#pumping ??= this.#send(isDue).finally(() => {
      this.#pumping = undefined;
    });
  }

  async #send(isDue: boolean): Promise<void> {
    let sendsPart = isDue;
    while (!this.#isClosed && this.#waiting.length >= (sendsPart ? 1 : this.#options.maxSize)) {
      sendsPart = false;
      await this.#slowDown();
      while (this.#underWay.size >= this.#options.concurrency) await Promise.race(this.#underWay);
      if (this.#isClosed) return;
      const sent = Promise.resolve(this.#backend.process(this.#take()));
      this.#underWay.add(sent);
      void sent.finally(() => this.#underWay.delete(sent));
    }
  }

  #take(): AuditEvent[] {
    const batch = this.#waiting.splice(0, this.#options.maxSize);
    for (const { bytes } of batch) this.#bytes -= bytes;
    return batch;
  }

  /** Token bucket, like client-go's flowcontrol. */
  async #slowDown(): Promise<void> {
    const { throttle } = this.#options;
    if (throttle === undefined) return;
    const now = this.#clock.monotonic();
    this.#tokens = Math.min(throttle.burst, this.#tokens + ((now - this.#tokensAt) / 1000) * throttle.qps);
    this.#tokensAt = now;
    this.#tokens--;
    if (this.#tokens < 0) await this.#clock.sleep((-this.#tokens / throttle.qps) * 1000);
  }
}
