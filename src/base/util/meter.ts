import { AsyncLocalStorage } from "node:async_hooks";

/**
 * The work of one request that depends on data of others: expressions, schemas, patterns, paths. A unit is about 0.1 µs on a
 * slow core, which is what one unit of CEL cost takes. Counting is deterministic, unlike measuring time.
 */
export class Meter {
  /** The units that are left. */
  left: number;
  readonly #units: number;

  constructor(units: number) {
    this.left = units;
    this.#units = units;
  }

  /** A meter with all units that this one had in the beginning, for a step that others can run before. */
  renewed(): Meter {
    return Number.isFinite(this.#units) ? new Meter(this.#units) : this;
  }

  /** Throws TooCostly once more units were charged than the meter had. */
  charge(units: number): void {
    this.left -= units;
    if (this.left < 0) throw new TooCostly();
  }
}

/**
 * Ends a request that has used up its meter, before it wrote anything. The request is then carried out in a worker thread.
 * Code that catches errors of any kind must throw it again. Only the deletion of a collection may have deleted some objects.
 */
export class TooCostly extends Error {
  constructor() {
    super("the request needs more processor time than the event loop can give it");
    this.name = "TooCostly";
  }
}

/** Never throws. For work that no request waits for, and for worker threads. */
export const UNLIMITED: Meter = new Meter(Number.POSITIVE_INFINITY);

/**
 * Units for a value that a write adds to its body, such as a default, a copy or a mutation: it will be validated, tracked,
 * compared and encoded, too.
 */
export const UNITS_PER_ADDED_VALUE = 50;

const ambient = new AsyncLocalStorage<Meter>();

/** Runs a request with a meter. Everything it calls and awaits finds the meter by `currentMeter`. */
export function metered<T>(meter: Meter, run: () => T): T {
  return ambient.run(meter, run);
}

/** The meter of the request that is being carried out. Takes about 50 ns, so loops should keep it. */
export function currentMeter(): Meter {
  return ambient.getStore() ?? UNLIMITED;
}
