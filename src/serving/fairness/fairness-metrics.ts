import type { MetricRegistry, Sample } from "../../base/metrics/metrics.ts";
import type { LevelState, Levels } from "./levels.ts";
import type { QueueSet, QueueSetObserver, Rejection } from "./queue-set.ts";
import type { FlowCounts } from "./ticket.ts";

const PREFIX = "apiserver_flowcontrol_";
const LEVEL = ["priority_level"] as const;
const FLOW = ["priority_level", "flow_schema"] as const;
const DURATIONS = [0, 0.005, 0.02, 0.05, 0.1, 0.2, 0.5, 1, 2, 5, 10, 15, 30] as const;
const NS_PER_MS = 1e6;

/** The series of one FlowSchema. */
export interface FlowSeries {
  readonly dispatched: { add(): void };
  readonly estimatedSeats: { observe(seats: number): void };
  readonly queueLength: { observe(length: number): void };
  readonly watchers: { observe(count: number): void };
  readonly waited: { observe(seconds: number): void };
  readonly waitedInVain: { observe(seconds: number): void };
  readonly executed: { observe(seconds: number): void };
  readonly initialized: { observe(seconds: number): void };
  rejected(reason: Rejection): void;
}

/** A ratio over time, as a histogram in which each nanosecond counts once. */
class TimedRatio {
  readonly #series: { observe(value: number, weight?: number): void };
  #ratio = 0;
  #sinceMs: number | undefined;

  constructor(series: { observe(value: number, weight?: number): void }) {
    this.#series = series;
  }

  set(amount: number, whole: number, nowMs: number): void {
    if (this.#sinceMs !== undefined && nowMs > this.#sinceMs) {
      this.#series.observe(this.#ratio, (nowMs - this.#sinceMs) * NS_PER_MS);
    }
    this.#sinceMs = nowMs;
    this.#ratio = amount / Math.max(1, whole);
  }
}

/** Metrics of API priority and fairness, under kube-apiserver's names. */
export class FairnessMetrics {
  readonly #registry: MetricRegistry;
  readonly #families: ReturnType<typeof families>;

  constructor(registry: MetricRegistry) {
    this.#registry = registry;
    this.#families = families(registry);
  }

  /** The series of a FlowSchema. */
  seriesOf(level: string, schema: string): FlowSeries {
    const found = this.#families;
    const labels = { priority_level: level, flow_schema: schema };
    const rejections = new Map<Rejection, { add(): void }>();
    return {
      dispatched: found.dispatched.of(labels),
      estimatedSeats: found.estimatedSeats.of(labels),
      queueLength: found.queueLength.of(labels),
      watchers: found.watchers.of(labels),
      waited: found.waits.of({ ...labels, execute: "true" }),
      waitedInVain: found.waits.of({ ...labels, execute: "false" }),
      executed: found.executions.of({ ...labels, type: "regular" }),
      initialized: found.executions.of({ ...labels, type: "watch" }),
      rejected(reason) {
        let series = rejections.get(reason);
        if (series === undefined) {
          series = found.rejected.of({ ...labels, reason });
          rejections.set(reason, series);
        }
        series.add();
      },
    };
  }

  /** Follows the use of a level over time. */
  observe(level: string): QueueSetObserver {
    const { seatUse, requestUse, demand } = this.#families;
    const labels = { priority_level: level };
    const seats = new TimedRatio(seatUse.of({ ...labels, phase: "executing" }));
    const executing = new TimedRatio(requestUse.of({ ...labels, phase: "executing" }));
    const waiting = new TimedRatio(requestUse.of({ ...labels, phase: "waiting" }));
    const demanded = new TimedRatio(demand.of(labels));
    return {
      changed: (set, nowMs) => {
        const { limit } = set;
        seats.set(set.seatsInUse, limit, nowMs);
        executing.set(set.executing, limit, nowMs);
        waiting.set(set.waiting, placesOf(set), nowMs);
        demanded.set(set.seatsInUse + set.waitingSeats, limit, nowMs);
      },
    };
  }

  /** Shows the state of all levels when it is asked for. */
  follow(levels: Levels): void {
    const byLevel = (name: string, help: string, read: (state: LevelState) => number) =>
      this.#registry.measured<"priority_level">("gauge", { name: `${PREFIX}${name}`, help, labels: LEVEL }, () =>
        [...levels.states.values()].map((state) => ({
          labels: { priority_level: state.level.name },
          value: read(state),
        })),
      );
    const byFlow = (name: string, help: string, read: (counts: FlowCounts) => number) =>
      this.#registry.measured<(typeof FLOW)[number]>("gauge", { name: `${PREFIX}${name}`, help, labels: FLOW }, () => {
        const samples: Sample<(typeof FLOW)[number]>[] = [];
        for (const { level, counts } of levels.states.values()) {
          for (const one of counts.values()) {
            samples.push({ labels: { priority_level: level.name, flow_schema: one.schema }, value: read(one) });
          }
        }
        return samples;
      });
    for (const [name, help, read] of LEVEL_GAUGES) byLevel(name, help, read);
    for (const [name, help, read] of FLOW_GAUGES) byFlow(name, help, read);
    this.#registry.measured(
      "gauge",
      {
        name: `${PREFIX}seat_fair_frac`,
        help: "[ALPHA] Fair fraction of server's concurrency to allocate to each priority level that can use it",
      },
      () => levels.fairFraction,
    );
  }
}

/** How many requests can wait. */
function placesOf({ response }: QueueSet): number {
  return response.type === "Queue" ? response.queues * Math.max(1, response.queueLengthLimit) : 1;
}

const LEVEL_GAUGES: readonly (readonly [name: string, help: string, read: (state: LevelState) => number])[] = [
  [
    "nominal_limit_seats",
    "[BETA] Nominal number of execution seats configured for each priority level",
    ({ limits }) => limits.nominal,
  ],
  [
    "lower_limit_seats",
    "[ALPHA] Configured lower bound on number of execution seats available to each priority level",
    ({ limits }) => limits.lower,
  ],
  [
    "upper_limit_seats",
    "[ALPHA] Configured upper bound on number of execution seats available to each priority level",
    ({ limits }) => limits.upper,
  ],
  [
    "current_limit_seats",
    "[ALPHA] current derived number of execution seats available to each priority level",
    ({ queues }) => queues.limit,
  ],
  [
    "demand_seats_high_watermark",
    "[ALPHA] High watermark, over last adjustment period, of demand_seats",
    ({ demand }) => demand.most,
  ],
  [
    "demand_seats_average",
    "[ALPHA] Time-weighted average, over last adjustment period, of demand_seats",
    ({ demand }) => demand.average,
  ],
  [
    "demand_seats_stdev",
    "[ALPHA] Time-weighted standard deviation, over last adjustment period, of demand_seats",
    ({ demand }) => demand.deviation,
  ],
  ["demand_seats_smoothed", "[ALPHA] Smoothed seat demands", ({ demand }) => demand.smoothed],
  ["target_seats", "[ALPHA] Seat allocation targets", ({ demand }) => demand.target],
  ["current_r", "[ALPHA] R(time of last change)", ({ queues }) => queues.r],
];

const FLOW_GAUGES: readonly (readonly [name: string, help: string, read: (counts: FlowCounts) => number])[] = [
  [
    "current_inqueue_requests",
    "[BETA] Number of requests currently pending in queues of the API Priority and Fairness subsystem",
    ({ waiting }) => waiting,
  ],
  [
    "current_inqueue_seats",
    "[ALPHA] Number of seats currently pending in queues of the API Priority and Fairness subsystem",
    ({ waitingSeats }) => waitingSeats,
  ],
  [
    "current_executing_requests",
    "[BETA] Number of requests in initial (for a WATCH) or any (for a non-WATCH) execution stage in the API Priority and Fairness subsystem",
    ({ executing }) => executing,
  ],
  [
    "current_executing_seats",
    "[BETA] Concurrency (number of seats) occupied by the currently executing (initial stage for a WATCH, any stage otherwise) requests in the API Priority and Fairness subsystem",
    ({ executingSeats }) => executingSeats,
  ],
];

function families(registry: MetricRegistry) {
  const counter = <Name extends string>(name: string, help: string, labels: readonly Name[]) =>
    registry.counter({ name: `${PREFIX}${name}`, help, labels });
  const histogram = <Name extends string>(
    name: string,
    help: string,
    labels: readonly Name[],
    bounds: readonly number[],
  ) => registry.histogram({ name: `${PREFIX}${name}`, help, labels, bounds });
  return {
    rejected: counter(
      "rejected_requests_total",
      "[BETA] Number of requests rejected by API Priority and Fairness subsystem",
      [...FLOW, "reason"],
    ),
    dispatched: counter(
      "dispatched_requests_total",
      "[BETA] Number of requests executed by API Priority and Fairness subsystem",
      FLOW,
    ),
    queueLength: histogram(
      "request_queue_length_after_enqueue",
      "[ALPHA] Length of queue in the API Priority and Fairness subsystem, as seen by each request after it is enqueued",
      FLOW,
      [0, 10, 25, 50, 100, 250, 500, 1000],
    ),
    waits: histogram(
      "request_wait_duration_seconds",
      "[BETA] Length of time a request spent waiting in its queue",
      [...FLOW, "execute"],
      DURATIONS,
    ),
    executions: histogram(
      "request_execution_seconds",
      "[ALPHA] Duration of initial stage (for a WATCH) or any (for a non-WATCH) stage of request execution in the API Priority and Fairness subsystem",
      [...FLOW, "type"],
      DURATIONS,
    ),
    watchers: histogram(
      "watch_count_samples",
      "[ALPHA] count of watchers for mutating requests in API Priority and Fairness",
      FLOW,
      [0, 1, 10, 100, 1000, 10_000],
    ),
    estimatedSeats: histogram(
      "work_estimated_seats",
      "[ALPHA] Number of estimated seats (maximum of initial and final seats) associated with requests in API Priority and Fairness",
      FLOW,
      [1, 2, 4, 8, 16, 32, 64, 100],
    ),
    seatUse: histogram(
      "priority_level_seat_utilization",
      "[ALPHA] Observations, at the end of every nanosecond, of utilization of seats for any stage of execution (but only initial stage for WATCHes)",
      [...LEVEL, "phase"],
      [0, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 0.95, 0.99, 1],
    ),
    requestUse: histogram(
      "priority_level_request_utilization",
      "[ALPHA] Observations, at the end of every nanosecond, of number of requests (as a fraction of the relevant limit) waiting or in any stage of execution (but only initial stage for WATCHes)",
      ["phase", ...LEVEL],
      [0, 0.001, 0.003, 0.01, 0.03, 0.1, 0.25, 0.5, 0.75, 1],
    ),
    demand: histogram(
      "demand_seats",
      "[ALPHA] Observations, at the end of every nanosecond, of (the number of seats each priority level could use) / (nominal number of seats for that level)",
      LEVEL,
      [0.2, 0.4, 0.6, 0.8, 1, 1.2, 1.4, 1.7, 2, 2.8, 4, 6],
    ),
  };
}
