import type { Call, Stage } from "../api/call.ts";
import type { Clock, Timer } from "../lib/clock.ts";
import type { Log } from "../lib/environment.ts";
import type { MetricRegistry } from "../lib/metrics.ts";
import type { PathFacts } from "./path-facts.ts";

/** What the watchdog measures with, and whom it tells. */
export interface WatchdogOptions extends Pick<PathFacts, "findServed" | "isLongRunning"> {
  /** The real one: it measures how long this process computes. */
  readonly clock: Clock;
  /** Processor time of this thread so far, in ms. */
  readonly processorMs: () => number;
  readonly log: Log;
  readonly registry: MetricRegistry;
}

const PERIOD_MS = 50;
/** Nobody may have to wait longer for others. */
const STALL_MS = 100;
const TELL_EVERY_MS = 10_000;
/** How many requests a line names, and how many that have ended are remembered until the next look. */
const MOST_NAMED = 5;
const MOST_ENDED = 100;
/** Paths that are no resources, by their beginnings. */
const ROOTS: ReadonlySet<string> = new Set("api apis openapi metrics healthz livez readyz version".split(" "));

/**
 * Notices when the event loop was held for so long that others had to wait, counts it, and tells which requests were
 * under way in that time: verb, resource and size of the body, and nothing else that a client sent. A stall that took
 * little processor time was none of the server's own: the machine was busy.
 */
export class StallWatchdog {
  readonly #options: WatchdogOptions;
  readonly #open = new Set<Call>();
  /** Those that have ended since the last look. */
  readonly #ended: Call[] = [];
  #timer: Timer | undefined;
  #lookedAtMs = 0;
  #usedMs = 0;
  #stalls = 0;
  #toldAtMs = Number.NEGATIVE_INFINITY;
  #leftOut = 0;

  constructor(options: WatchdogOptions) {
    const { registry } = options;
    this.#options = options;
    const help = `How often the event loop was held for more than ${STALL_MS} ms, so that requests had to wait for others.`;
    registry.measured("counter", { name: "binnacle_event_loop_stalls_total", help }, () => this.#stalls);
  }

  /** Keeps in mind which requests are under way; stands around all other stages. */
  readonly stage: Stage = (next) => {
    const { isLongRunning } = this.#options;
    return (call) => {
      this.#open.add(call);
      const reply = next(call);
      const end = () => this.#end(call);
      if (isLongRunning(call.info)) reply.then(end, end);
      else call.whenFinished(end);
      return reply;
    };
  };

  /** Begins to measure. */
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
    if (lateMs > STALL_MS) this.#tell(nowMs, lateMs, usedMs - this.#usedMs);
    this.#lookedAtMs = nowMs;
    this.#usedMs = usedMs;
    this.#ended.length = 0;
  }

  #tell(nowMs: number, ms: number, processorMs: number): void {
    this.#stalls += 1;
    const calls = [...this.#ended, ...this.#open];
    if (calls.length === 0) return;
    if (nowMs - this.#toldAtMs < TELL_EVERY_MS) {
      this.#leftOut += 1;
      return;
    }
    this.#options.log.warn("requests had to wait because the event loop was held", {
      ...{ ms: Math.round(ms), processorMs: Math.round(processorMs), underWay: calls.length },
      ...{ requests: this.#name(calls), leftOut: this.#leftOut },
    });
    this.#toldAtMs = nowMs;
    this.#leftOut = 0;
  }

  /** The largest come first: they are most likely to be the reason. */
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

/** As declared; 0 when that was not said. */
function bodyBytes({ request }: Call): number {
  const declared = request.headers["content-length"];
  return typeof declared === "string" && /^\d{1,12}$/.test(declared) ? Number(declared) : 0;
}
