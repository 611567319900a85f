import type { EventLog } from "./event-log.ts";
import type { OrderedMap } from "./ordered-map.ts";
import type { Entry } from "./store.ts";

const checkpointEvery = 4096;
const maxRecent = 16;

interface State {
  readonly revision: number;
  readonly map: OrderedMap<Entry>;
}

/**
 * Past states, cheap to keep because cloning a map copies a pointer. A checkpoint is kept after every 4096 events, and
 * so are the 16 states read last. Any other state is computed from the nearest kept state by applying or undoing the
 * events in between. Example, with checkpoints at 5000 and 9100, now at 9700:
 *   read at 9700    the current map itself
 *   read at 9650    the current map with 50 events undone; kept, so its next page costs nothing
 *   read at 5100    the checkpoint of 5000 with 100 events applied
 *   compact(6000)   drops the checkpoint of 5000; then a read at 6100 undoes 3000 events from 9100
 */
export class PastStates {
  readonly #log: EventLog;
  #checkpoints: State[] = [];
  #recent: State[] = [];
  #eventsSinceCheckpoint = 0;

  constructor(log: EventLog) {
    this.#log = log;
  }

  /** Call after every change: `events` is the number of events that led to the given state. */
  advance(events: number, current: State): void {
    this.#eventsSinceCheckpoint += events;
    if (this.#eventsSinceCheckpoint < checkpointEvery) return;
    this.#eventsSinceCheckpoint = 0;
    this.#checkpoints.push({ revision: current.revision, map: current.map.clone() });
  }

  /** Keeps the current state because more of it will be read. */
  keep(current: State): void {
    const known = this.#recent.find((state) => state.revision === current.revision);
    this.#remember(known ?? { revision: current.revision, map: current.map.clone() });
  }

  /** The map as of `revision`, which must lie within the log. The caller must not change it. */
  at(revision: number, current: State): OrderedMap<Entry> {
    const target = this.#log.indexAfter(revision);
    let nearest = current;
    let distance = Number.POSITIVE_INFINITY;
    for (const state of [current, ...this.#recent, ...this.#checkpoints]) {
      const steps = Math.abs(this.#log.indexAfter(state.revision) - target);
      if (steps < distance) {
        nearest = state;
        distance = steps;
      }
    }
    if (this.#recent.includes(nearest)) this.#remember(nearest);
    if (distance === 0) return nearest.map;
    const map = nearest.map.clone();
    this.#replay(map, this.#log.indexAfter(nearest.revision), target);
    this.#remember({ revision, map });
    return map;
  }

  /** Drops states older than `revision`. */
  dropBefore(revision: number): void {
    this.#checkpoints = this.#checkpoints.filter((state) => state.revision >= revision);
    this.#recent = this.#recent.filter((state) => state.revision >= revision);
  }

  #remember(state: State): void {
    this.#recent = [...this.#recent.filter((other) => other !== state), state].slice(-maxRecent);
  }

  #replay(map: OrderedMap<Entry>, from: number, to: number): void {
    for (let i = from; i < to; i++) {
      const event = this.#log.at(i);
      if (event !== undefined) assign(map, event.key, event.entry);
    }
    for (let i = from - 1; i >= to; i--) {
      const event = this.#log.at(i);
      if (event !== undefined) assign(map, event.key, event.previous);
    }
  }
}

function assign(map: OrderedMap<Entry>, key: string, entry: Entry | undefined): void {
  if (entry === undefined) map.delete(key);
  else map.set(key, entry);
}
