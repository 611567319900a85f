import type { KubeObject } from "../../base/api/object.ts";
import type { RequestInfo } from "../../base/api/request-info.ts";
import type { UserInfo } from "../../base/api/user-info.ts";
import type { Clock } from "../../base/util/clock.ts";
import type { FairnessMetrics, FlowSeries } from "./fairness-metrics.ts";
import {
  compareFlowSchemas,
  distinguish,
  type FlowRule,
  type FlowSchema,
  matchesRequest,
  readFlowSchema,
  rulesFor,
} from "./flow-schema.ts";
import { type LevelState, Levels } from "./levels.ts";
import { readPriorityLevel } from "./priority-level.ts";
import { RetryAfter } from "./retry-after.ts";
import { dealQueues, flowHash } from "./shuffle-shard.ts";
import type { FlowCounts } from "./ticket.ts";

/** FlowSchemas and PriorityLevelConfigurations. */
export interface FlowObjects {
  readonly levels: readonly KubeObject[];
  readonly schemas: readonly KubeObject[];
}

/** Options of `Fairness`. */
export interface FairnessOptions {
  readonly clock: Clock;
  /** The number of seats: how many requests run at once, except for exempt ones. */
  readonly seats: number;
  /** The objects that apply even if nothing is stored: the first one exempts requests, the last one takes all others. */
  readonly mandatory: FlowObjects;
  readonly metrics: FairnessMetrics;
}

/** To which FlowSchema, priority level and flow a request belongs. */
export interface Classification {
  readonly schema: FlowSchema;
  readonly state: LevelState;
  readonly distinguisher: string;
  /** The queues of the flow. Empty if the level has none. */
  readonly hand: readonly number[];
  readonly counts: FlowCounts;
  readonly series: FlowSeries;
}

/** A FlowSchema with what its requests share. */
interface Matched {
  readonly schema: FlowSchema;
  readonly state: LevelState;
  readonly counts: FlowCounts;
  readonly series: FlowSeries;
  readonly flows: Map<string, Classification>;
}

/** Compat: `borrowingAdjustmentPeriod`. */
const ADJUST_MS = 10_000;
/** Flows of a FlowSchema whose queues are remembered. */
const MAX_FLOWS = 10_000;

/** API priority and fairness: which requests run, wait or are rejected. */
export class Fairness {
  readonly retryAfter: RetryAfter;
  readonly metrics: FairnessMetrics;
  readonly #levels: Levels;
  readonly #mandatory: FlowObjects;
  readonly #clock: Clock;
  #matched: readonly Matched[] = [];
  /** The rules about a user, in the order of the FlowSchemas. */
  #byUser = new WeakMap<UserInfo, readonly (readonly [Matched, readonly FlowRule[]])[]>();

  constructor({ clock, seats, mandatory, metrics }: FairnessOptions) {
    this.#clock = clock;
    this.#mandatory = mandatory;
    this.metrics = metrics;
    this.retryAfter = new RetryAfter(() => clock.now());
    this.#levels = new Levels({
      clock,
      total: seats,
      observe: (level) => metrics.observe(level),
      forgotten: (level) => this.retryAfter.forget(level),
    });
    metrics.follow(this.#levels);
    this.configure({ levels: [], schemas: [] });
  }

  get levels(): Levels {
    return this.#levels;
  }

  /** Applies the stored objects. FlowSchemas of missing priority levels are ignored. */
  configure({ levels, schemas }: FlowObjects): void {
    const mandatory = this.#mandatory;
    const exempt = mandatory.levels[0]?.metadata.name ?? "";
    const read = complete(levels, mandatory.levels).flatMap((object) => readPriorityLevel(object, exempt) ?? []);
    this.#levels.configure(read);
    const sorted = schemas.map(readFlowSchema).sort(compareFlowSchemas);
    const missing = mandatory.schemas.filter(({ metadata }) => !sorted.some(({ name }) => name === metadata.name));
    const first = missing.filter((object) => object === mandatory.schemas[0]).map(readFlowSchema);
    const last = missing.filter((object) => object !== mandatory.schemas[0]).map(readFlowSchema);
    const names = new Set(read.map(({ name }) => name));
    this.#matched = [...first, ...sorted, ...last]
      .filter(({ level }) => names.has(level))
      .map((schema) => this.#match(schema));
    this.#byUser = new WeakMap();
  }

  #match(schema: FlowSchema): Matched {
    const state = this.#levels.states.get(schema.level) as LevelState;
    let counts = state.counts.get(schema.name);
    if (counts === undefined) {
      counts = { schema: schema.name, waiting: 0, waitingSeats: 0, executing: 0, executingSeats: 0 };
      state.counts.set(schema.name, counts);
    }
    return { schema, state, counts, series: this.metrics.seriesOf(schema.level, schema.name), flows: new Map() };
  }

  /** Finds the first FlowSchema that matches, and the flow within it. */
  classify(user: UserInfo, info: RequestInfo): Classification {
    let rules = this.#byUser.get(user);
    if (rules === undefined) {
      rules = this.#matched.flatMap((matched) => {
        const own = rulesFor(matched.schema, user);
        return own.length === 0 ? [] : [[matched, own] as const];
      });
      this.#byUser.set(user, rules);
    }
    for (const [matched, own] of rules) {
      for (const rule of own) if (matchesRequest(rule, info)) return this.#flow(matched, user, info);
    }
    // Every user is in a group of the last FlowSchema, unless an authenticator omits it.
    return this.#flow(this.#matched.at(-1) as Matched, user, info);
  }

  #flow(matched: Matched, user: UserInfo, info: RequestInfo): Classification {
    const { schema, state, flows, counts, series } = matched;
    const { response } = state.level;
    const queues = response.type === "Queue" ? response.queues : 0;
    // Compat: `startRequest`. With a single queue there is nothing to tell apart.
    const distinguisher = queues > 1 ? distinguish(schema, user, info) : "";
    const known = flows.get(distinguisher);
    if (known !== undefined) return known;
    const handSize = response.type === "Queue" ? response.handSize : 0;
    const hand = queues > 0 ? dealQueues(queues > 1 ? flowHash(schema.name, distinguisher) : 0n, queues, handSize) : [];
    const flow = { schema, state, distinguisher, hand, counts, series };
    if (flows.size >= MAX_FLOWS) flows.clear();
    flows.set(distinguisher, flow);
    return flow;
  }

  /** Divides the seats anew from time to time, until the signal aborts. */
  run(signal: AbortSignal): void {
    const timer = this.#clock.setInterval(ADJUST_MS, () => {
      this.#levels.reap();
      this.#levels.adjust();
    });
    timer.unref();
    signal.addEventListener("abort", () => timer.close(), { once: true });
  }
}

/** The stored objects, and those mandatory ones that are missing. */
function complete(stored: readonly KubeObject[], mandatory: readonly KubeObject[]): readonly KubeObject[] {
  const names = new Set(stored.map(({ metadata }) => metadata.name));
  return [...stored, ...mandatory.filter(({ metadata }) => !names.has(metadata.name))];
}
