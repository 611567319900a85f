import type { Clock } from "../../base/util/clock.ts";
import { divideSeats } from "./divide-seats.ts";
import { maxSeatsOf, type PriorityLevel, type SeatLimits, seatLimits } from "./priority-level.ts";
import { QueueSet, type QueueSetObserver } from "./queue-set.ts";
import { SeatDemand } from "./seat-demand.ts";
import type { FlowCounts } from "./ticket.ts";

/** The demand of a level over the last period. */
export interface LevelDemand {
  readonly most: number;
  readonly average: number;
  readonly deviation: number;
  /** What it wants, averaged over minutes. */
  readonly smoothed: number;
  /** What it asks for when seats are divided. */
  readonly target: number;
}

/** The state of one priority level. */
export interface LevelState {
  level: PriorityLevel;
  readonly queues: QueueSet;
  readonly seatDemand: SeatDemand;
  limits: SeatLimits;
  maxSeats: number | undefined;
  demand: LevelDemand;
  /** Its object is gone, but it still has requests. */
  isLeaving: boolean;
  /** Numbers of requests by FlowSchema. */
  readonly counts: Map<string, FlowCounts>;
}

/** Options of `Levels`. */
export interface LevelsOptions {
  readonly clock: Pick<Clock, "monotonic" | "setTimer">;
  /** The seats of the server, divided among the levels. */
  readonly total: number;
  /** Creates what follows the queues of a level, for metrics. */
  readonly observe?: (level: string) => QueueSetObserver;
  /** Called when a level is gone. */
  readonly forgotten?: (level: string) => void;
}

/** Compat: seatDemandSmoothingCoefficient. It halves the weight of old demand within five minutes. */
const SMOOTHING = 0.977;
const NO_DEMAND: LevelDemand = { most: 0, average: 0, deviation: 0, smoothed: 0, target: 0 };

/** All priority levels, and the division of the seats among them. Compat: `configController`. */
export class Levels {
  readonly #options: LevelsOptions;
  #states = new Map<string, LevelState>();
  #nominalSum = 0;
  #fairFraction = 0;

  constructor(options: LevelsOptions) {
    this.#options = options;
  }

  get states(): ReadonlyMap<string, LevelState> {
    return this.#states;
  }

  get fairFraction(): number {
    return this.#fairFraction;
  }

  /** Replaces the configuration. A level that is no longer there stays until its requests have ended. */
  configure(levels: readonly PriorityLevel[]): void {
    const { clock, total, observe, forgotten } = this.#options;
    const states = new Map<string, LevelState>();
    for (const level of levels) {
      const known = this.#states.get(level.name);
      if (known) {
        known.level = level;
        known.isLeaving = false;
        states.set(level.name, known);
        continue;
      }
      const seatDemand = new SeatDemand(() => clock.monotonic());
      const queues = new QueueSet(clock, seatDemand, level.response, 0, observe?.(level.name));
      const limits = { nominal: 0, lower: 0, upper: 0 };
      const counts = new Map();
      const added = { level, queues, seatDemand, limits, counts, maxSeats: undefined, demand: NO_DEMAND };
      states.set(level.name, { ...added, isLeaving: false });
    }
    for (const [name, state] of this.#states) {
      if (states.has(name)) continue;
      if (state.queues.isIdle) {
        forgotten?.(name);
        continue;
      }
      state.isLeaving = true;
      states.set(name, state);
    }
    const shareSum = [...states.values()].reduce((sum, { level }) => sum + level.shares, 0);
    this.#nominalSum = 0;
    for (const state of states.values()) {
      state.limits = seatLimits(state.level, total, shareSum);
      state.maxSeats = maxSeatsOf(state.level, state.limits.nominal);
      this.#nominalSum += state.limits.nominal;
    }
    this.#states = states;
    this.adjust();
  }

  /** Divides the seats by the demand since the last call. Called every ten seconds. Compat: `updateBorrowing`. */
  adjust(): void {
    const states = [...this.#states.values()];
    for (const state of states) state.demand = this.#demandOf(state);
    const exempt = states.filter(({ level }) => level.response.type === "Exempt");
    const others = states.filter(({ level }) => level.response.type !== "Exempt");
    const leastOf = ({ limits, demand }: LevelState) => Math.max(limits.lower, Math.min(limits.nominal, demand.most));
    const sumOf = (seats: (state: LevelState) => number) => others.reduce((sum, state) => sum + seats(state), 0);
    let left = this.#nominalSum;
    for (const state of exempt) {
      const limit = Math.max(state.limits.lower, state.demand.most);
      left -= limit;
      state.queues.configure(state.level.response, limit);
    }
    const lowerSum = sumOf(({ limits }) => limits.lower);
    const leastSum = sumOf(leastOf);
    let seats: readonly number[];
    this.#fairFraction = 0;
    if (left <= lowerSum) seats = others.map(({ limits }) => limits.lower);
    else if (left <= leastSum) {
      const part = (left - lowerSum) / (leastSum - lowerSum);
      seats = others.map((state) => state.limits.lower + (leastOf(state) - state.limits.lower) * part);
    } else {
      const claims = others.map((state) => {
        const lower = leastOf(state);
        return { lower, upper: state.limits.upper, target: Math.max(lower, state.demand.smoothed) };
      });
      const division = divideSeats(this.#nominalSum, claims);
      this.#fairFraction = division?.fraction ?? 0;
      seats = division?.seats ?? others.map(({ queues }) => queues.limit);
    }
    for (const [index, state] of others.entries()) {
      state.queues.configure(state.level.response, Math.round(seats[index] ?? 0));
    }
  }

  /** Drops levels without an object whose requests have ended. */
  reap(): void {
    const states = [...this.#states.values()];
    if (!states.some(({ isLeaving, queues }) => isLeaving && queues.isIdle)) return;
    this.configure(states.filter(({ isLeaving }) => !isLeaving).map(({ level }) => level));
  }

  #demandOf({ seatDemand, demand, limits }: LevelState): LevelDemand {
    const taken = seatDemand.take();
    const most = Math.round(taken.most);
    if (taken.seconds <= 0) return { ...demand, most };
    const { average, deviation } = taken;
    const wanted = average + deviation;
    const smoothed = Math.max(wanted, SMOOTHING * demand.smoothed + (1 - SMOOTHING) * wanted);
    const least = Math.max(limits.lower, Math.min(limits.nominal, most));
    return { most, average, deviation, smoothed, target: Math.max(least, smoothed) };
  }
}
