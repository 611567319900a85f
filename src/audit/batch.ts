import type { Clock, Timer } from "../lib/clock.ts";
import type { AuditBackend, ReportLoss } from "./backend.ts";
import type { AuditEvent } from "./event.ts";

/** How events are collected before they are passed on. The flags `--audit-log-batch-…` and `--audit-webhook-batch-…`. */
export interface BatchOptions {
  /** How many events may wait; more are dropped and counted. */
  readonly bufferSize: number;
  readonly maxSize: number;
  /** How long an event waits for others at most. */
  readonly maxWaitMs: number;
  /** Batches per second; absent: any number. */
  readonly throttle?: { readonly qps: number; readonly burst: number };
  /** How many batches may be under way at the same time. */
  readonly concurrency: number;
}

/** What may wait, in bytes, whatever the number of events. */
const MAX_WAITING_BYTES = 64 * 1024 * 1024;

/** `--audit-log-mode=batch`: requests do not wait for their events to be kept. */
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
    const why = this.#isClosed ? "audit backend shut down" : "audit buffer queue blocked";
    if (dropped > 0) this.#report("buffered", dropped, new Error(why));
    if (this.#waiting.length >= this.#options.maxSize) this.#pump(false);
    else if (this.#waiting.length > 0) {
      this.#timer ??= this.#clock.setTimer(this.#options.maxWaitMs, () => {
        this.#timer = undefined;
        this.#pump(true);
      });
    }
    return true;
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

  /** A token bucket, as client-go's flowcontrol has it. */
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
