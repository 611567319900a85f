import { readdirSync, readFileSync } from "node:fs";
import { monitorEventLoopDelay, performance } from "node:perf_hooks";
import { getHeapStatistics } from "node:v8";
import type { MetricRegistry, Sample } from "../../lib/metrics.ts";

/** What a server tells of itself. */
export interface OwnFacts {
  /** When it was started, in milliseconds since the epoch. */
  readonly startMs: number;
  /** How full the cache of views is. */
  readonly views: () => { readonly entries: number; readonly capacity: number };
}

const DELAY_PERIOD_MS = 20;

/** Metrics of the process, as Prometheus' clients name them, and of what is special to this program. */
export class ProcessMetrics {
  readonly #delay = monitorEventLoopDelay({ resolution: DELAY_PERIOD_MS });
  #lastDelay: readonly Sample<"quantile">[] = ["0.5", "0.99", "1"].map((quantile) => delaySample(quantile, 0));

  constructor(registry: MetricRegistry, { startMs, views }: OwnFacts) {
    this.#delay.enable();
    processMetrics(registry, startMs);
    const gauge = (name: string, help: string, read: () => number) => registry.measured("gauge", { name, help }, read);
    registry.measured(
      "gauge",
      {
        name: "binnacle_event_loop_delay_seconds",
        help: "How late timers were since the last time this was read: the time for which requests had to wait for others.",
        labels: ["quantile"],
      },
      () => this.#readDelay(),
    );
    registry.measured(
      "counter",
      {
        name: "binnacle_event_loop_busy_seconds_total",
        help: "Time in which the event loop was not waiting for something to happen.",
      },
      () => performance.eventLoopUtilization().active / 1000,
    );
    gauge(
      "binnacle_heap_used_bytes",
      "Size of JavaScript objects, dead ones that are not collected yet included.",
      () => getHeapStatistics().used_heap_size,
    );
    gauge(
      "binnacle_heap_limit_bytes",
      "Size of JavaScript objects at which the process gives up.",
      () => getHeapStatistics().heap_size_limit,
    );
    gauge(
      "binnacle_external_memory_bytes",
      "Size of buffers that JavaScript objects hold outside of the heap.",
      () => getHeapStatistics().external_memory,
    );
    gauge(
      "binnacle_view_cache_entries",
      "Stored objects of which a decoded or encoded form is kept.",
      () => views().entries,
    );
    gauge("binnacle_view_cache_capacity", "How many of them can be kept.", () => views().capacity);
  }

  close(): void {
    this.#delay.disable();
  }

  #readDelay(): readonly Sample<"quantile">[] {
    const delay = this.#delay;
    if (delay.count > 0) {
      this.#lastDelay = [
        delaySample("0.5", delay.percentile(50)),
        delaySample("0.99", delay.percentile(99)),
        delaySample("1", delay.max),
      ];
      delay.reset();
    }
    return this.#lastDelay;
  }
}

/** `monitorEventLoopDelay` gives the time from one timer to the next, in nanoseconds. */
function delaySample(quantile: string, interval: number): Sample<"quantile"> {
  return { labels: { quantile }, value: Math.max(0, interval / 1e9 - DELAY_PERIOD_MS / 1000) };
}

/** Processor time that this thread has used so far, in ms. */
export function processorMs(): number {
  const { user, system } = process.threadCpuUsage();
  return (user + system) / 1000;
}

/** When the process began; the only one of its metrics that `/metrics/slis` has, too. */
export function startTimeMetric(registry: MetricRegistry, startMs: number): void {
  const help = "Start time of the process since unix epoch in seconds.";
  registry.measured("gauge", { name: "process_start_time_seconds", help }, () => startMs / 1000);
}

function processMetrics(registry: MetricRegistry, startMs: number): void {
  startTimeMetric(registry, startMs);
  registry.measured(
    "counter",
    { name: "process_cpu_seconds_total", help: "Total user and system CPU time spent in seconds." },
    () => {
      const { user, system } = process.cpuUsage();
      return (user + system) / 1e6;
    },
  );
  const gauge = (name: string, help: string, read: () => number | undefined) =>
    registry.measured("gauge", { name, help }, read);
  gauge("process_resident_memory_bytes", "Resident memory size in bytes.", () => process.memoryUsage.rss());
  gauge("process_open_fds", "Number of open file descriptors.", () =>
    ofLinux(() => readdirSync("/proc/self/fd").length),
  );
  gauge("process_max_fds", "Maximum number of open file descriptors.", () =>
    ofLinux(() => Number(/^Max open files\s+(\d+)/m.exec(readFileSync("/proc/self/limits", "utf8"))?.[1])),
  );
  gauge("process_virtual_memory_bytes", "Virtual memory size in bytes.", () =>
    ofLinux(() => Number(/^VmSize:\s+(\d+) kB/m.exec(readFileSync("/proc/self/status", "utf8"))?.[1]) * 1024),
  );
}

/** What Linux tells in /proc. Undefined elsewhere. */
function ofLinux(read: () => number): number | undefined {
  try {
    const value = read();
    return Number.isNaN(value) ? undefined : value;
  } catch {
    return undefined;
  }
}
