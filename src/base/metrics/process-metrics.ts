import { readdirSync, readFileSync } from "node:fs";
import { monitorEventLoopDelay, performance } from "node:perf_hooks";
import { getHeapStatistics } from "node:v8";
import type { MetricRegistry, Sample } from "./metrics.ts";

/** Data of the server that its process metrics need. */
export interface OwnFacts {
  /** Start time, in milliseconds since the epoch. */
  readonly startMs: number;
  /** Usage of the view cache. */
  readonly views: () => { readonly entries: number; readonly capacity: number };
}

const DELAY_PERIOD_MS = 20;

/** Process metrics with the names of Prometheus client libraries, and metrics specific to this program. */
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
        help: "Event loop delay since the last scrape: how long requests had to wait for other work.",
        labels: ["quantile"],
      },
      () => this.#readDelay(),
    );
    registry.measured(
      "counter",
      {
        name: "binnacle_event_loop_busy_seconds_total",
        help: "Time in which the event loop was busy.",
      },
      () => performance.eventLoopUtilization().active / 1000,
    );
    gauge(
      "binnacle_heap_used_bytes",
      "Used JavaScript heap, including objects that are not collected yet.",
      () => getHeapStatistics().used_heap_size,
    );
    gauge(
      "binnacle_heap_limit_bytes",
      "Limit of the JavaScript heap. The process aborts when it is reached.",
      () => getHeapStatistics().heap_size_limit,
    );
    gauge(
      "binnacle_external_memory_bytes",
      "Memory of buffers outside of the JavaScript heap.",
      () => getHeapStatistics().external_memory,
    );
    gauge(
      "binnacle_view_cache_entries",
      "Number of stored objects whose decoded or encoded form is cached.",
      () => views().entries,
    );
    gauge("binnacle_view_cache_capacity", "Maximum number of cached objects.", () => views().capacity);
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

/** `monitorEventLoopDelay` measures the time between two timers, in nanoseconds. */
function delaySample(quantile: string, interval: number): Sample<"quantile"> {
  return { labels: { quantile }, value: Math.max(0, interval / 1e9 - DELAY_PERIOD_MS / 1000) };
}

/** CPU time of this thread so far, in ms. */
export function processorMs(): number {
  const { user, system } = process.threadCpuUsage();
  return (user + system) / 1000;
}

/** Start time of the process, the only process metric that `/metrics/slis` contains as well. */
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

/** A value from /proc. Undefined on systems other than Linux. */
function ofLinux(read: () => number): number | undefined {
  try {
    const value = read();
    return Number.isNaN(value) ? undefined : value;
  } catch {
    return undefined;
  }
}
