import type { Call, Stage } from "../../base/api/call.ts";
import type { MetricRegistry } from "../../base/metrics/metrics.ts";
import type { Clock, Timer } from "../../base/util/clock.ts";
import type { Log } from "../../base/util/environment.ts";
import type { PathFacts } from "./path-facts.ts";

/** Options of the event loop watchdog. */
export interface WatchdogOptions extends Pick<PathFacts, "findServed" | "isLongRunning"> {
  /** Must be the real clock: it measures how long this process blocks. */
  readonly clock: Clock;
  /** CPU time of this thread so far, in ms. */
  readonly processorMs: () => number;
  readonly log: Log;
  readonly registry: MetricRegistry;
}

const PERIOD_MS = 50;
/** A longer delay of the event loop counts as a stall. */
const STALL_MS = 100;
const LOG_INTERVAL_MS = 10_000;
/** Maximum number of requests in a log line, and of ended requests remembered between two checks. */
const MOST_NAMED = 5;
const MOST_ENDED = 100;
/** First segments of non-resource paths that may be logged. */
const ROOTS: ReadonlySet<string> = new Set("api apis openapi metrics healthz livez readyz version".split(" "));

/**
 * Detects a blocked event loop, counts it and logs the requests that were in flight: verb, resource and body size, but
 * nothing else that a client sent. If a stall used little CPU time, the machine was busy with other processes.
 */
export class StallWatchdog {
  readonly #options: WatchdogOptions;
  readonly #open = new Set<Call>();
  /** Requests that ended since the last check. */
  readonly #ended: Call[] = [];
  #timer: Timer | undefined;
  #lookedAtMs = 0;
  #usedMs = 0;
  #stalls = 0;
  #toldAtMs = Number.NEGATIVE_INFINITY;
  #suppressed = 0;

  constructor(options: WatchdogOptions) {
    const { registry } = options;
    this.#options = options;
    const help = `Number of times the event loop was blocked for more than ${STALL_MS} ms.`;
    registry.measured("counter", { name: "binnacle_event_loop_stalls_total", help }, () => this.#stalls);
  }

  /** Tracks the requests in flight. Must be the outermost stage. */
  readonly stage: Stage = (next) => {
    const { isLongRunning } = this.#options;
    return (call) => {
      this.#open.add(call);
      const end = () => this.#end(call);
      if (!isLongRunning(call.info)) {
        call.whenFinished(end);
        return next(call);
      }
      return (async () => next(call))().finally(end);
    };
  };

  /** Starts measuring. */
  start(): void {
    const { clock, processorMs } = this.#options;
    this.#lookedAtMs = clock.monotonic();
    this.#usedMs = processorMs();
    this.#timer = clock.setInterval(PERIOD_MS, () => this.#look()).unref();
  }

  close(): void {
    this.#timer?.close();
  }

  #end(call: Call): void {
    this.#open.delete(call);
    if (this.#ended.length < MOST_ENDED) this.#ended.push(call);
  }

  #look(): void {
    const { clock, processorMs } = this.#options;
    const nowMs = clock.monotonic();
    const usedMs = processorMs();
    const lateMs = nowMs - this.#lookedAtMs - PERIOD_MS;
    if (lateMs > STALL_MS) this.#report(nowMs, lateMs, usedMs - this.#usedMs);
    this.#lookedAtMs = nowMs;
    this.#usedMs = usedMs;
    this.#ended.length = 0;
  }

  #report(nowMs: number, ms: number, processorMs: number): void {
    this.#stalls += 1;
    const calls = [...this.#ended, ...this.#open];
    if (calls.length === 0) return;
    if (nowMs - this.#toldAtMs < LOG_INTERVAL_MS) {
      this.#suppressed += 1;
      return;
    }
    this.#options.log.warn(`event loop blocked for ${Math.round(ms)} ms`, {
      ...{ ms: Math.round(ms), cpuMs: Math.round(processorMs), openRequests: calls.length },
      ...{ requests: this.#name(calls), suppressed: this.#suppressed },
    });
    this.#toldAtMs = nowMs;
    this.#suppressed = 0;
  }

  /** Requests with the largest bodies first, as they are the most likely cause. */
  #name(calls: readonly Call[]): string {
    const sized = calls.map((call) => ({ call, bytes: bodyBytes(call) })).sort((a, b) => b.bytes - a.bytes);
    return sized
      .slice(0, MOST_NAMED)
      .map(({ call, bytes }) => `${this.#nameOf(call)} ${bytes} B`)
      .join(", ");
  }

  #nameOf({ info }: Call): string {
    if (info.isResource && this.#options.findServed(info)) {
      const { verb, group, version, resource, subresource } = info;
      return [verb, group, version, resource, subresource].filter((word) => word !== "").join(" ");
    }
    const [, root = ""] = info.path.split("/", 2);
    return ROOTS.has(root) ? `/${root}` : "another path";
  }
}

/** The Content-Length; 0 if there is none. */
function bodyBytes({ request }: Call): number {
  const declared = request.headers["content-length"];
  return typeof declared === "string" && /^\d{1,12}$/.test(declared) ? Number(declared) : 0;
}
