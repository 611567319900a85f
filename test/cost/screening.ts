import { appendFileSync, existsSync, readFileSync } from "node:fs";
import { type Case, firstWay, SIZES, screenCases } from "./cases.ts";
import type { CostFuzzer } from "./fuzzer.ts";
import { type Place, placeName } from "./places.ts";
import { type CostResult, isFailure, isGrown } from "./results.ts";
import type { Growth } from "./values.ts";

/** The places of one field of one component, in all kinds and versions that have it. */
export interface PlaceClass {
  readonly key: string;
  readonly places: readonly Place[];
}

/** What came of a class. */
export interface Screened {
  readonly key: string;
  readonly places: number;
  readonly requests: number;
  /** How many were sent at each size. */
  readonly small: number;
  readonly large: number;
  /** The dearest at each size, all that failed, and all that took much memory. */
  readonly results: readonly CostResult[];
}

/** A small request that takes so much processor time is sent again, and the best of three tries counts. */
export const NOTABLE_MS = 20;
/** A place that takes so long at the small size is not tried at the large one. */
const HOPELESS_MS = 1500;
/** How many results of a class and size are kept. */
const KEPT = 3;

/** Of a place that others with the same field stand for: how many growths are sent where other functions read it, and where the same do. */
const SHARED = { otherRule: 4, sameRule: 1 } as const;

/** Places by their field. */
export function classesOf(places: readonly Place[]): PlaceClass[] {
  const byKey = Map.groupBy(places, ({ key }) => key);
  return [...byKey].map(([key, same]) => ({ key, places: same }));
}

/**
 * Sends every growth of one place of every class at 100 KB, some of each of its other places, each time others, and at
 * 2.5 MB those for which the small ones do not speak.
 */
export class Screening {
  readonly #fuzzer: CostFuzzer;
  readonly #file: string | undefined;
  readonly #done = new Map<string, Screened>();
  readonly #isThorough: boolean;

  /** Classes that `file` tells of are not sent again; what is found is written to it. A thorough one sends every growth wherever other functions read a place. */
  constructor(fuzzer: CostFuzzer, file?: string, isThorough = false) {
    this.#fuzzer = fuzzer;
    this.#isThorough = isThorough;
    this.#file = file;
    if (file === undefined || !existsSync(file)) return;
    for (const line of readFileSync(file, "utf8").split("\n")) {
      if (line === "") continue;
      const screened = JSON.parse(line) as Screened;
      this.#done.set(screened.key, screened);
    }
  }

  /** Screens classes in turn until the time is over, and gives what is known of those it came to. */
  async run(classes: readonly PlaceClass[], until: number, isDone?: (count: number) => void): Promise<Screened[]> {
    const all: Screened[] = [];
    for (const one of classes) {
      let screened = this.#done.get(one.key);
      if (!screened) {
        if (performance.now() > until) continue;
        screened = await this.#screen(one);
        if (this.#file !== undefined) appendFileSync(this.#file, `${JSON.stringify(screened)}\n`);
      }
      all.push(screened);
      isDone?.(all.length);
    }
    return all;
  }

  async #screen({ key, places }: PlaceClass): Promise<Screened> {
    const [place] = places;
    if (!place) throw new Error(`no place in ${key}`);
    const before = this.#fuzzer.sent;
    const growths = this.#fuzzer.growths(place);
    const small: CostResult[] = [];
    for (const one of screenCases(place, growths, SIZES.screen)) small.push(await this.#best(one));
    for (const one of this.#shared(places)) small.push(await this.#best(one));
    const cases = worst(small, 1).some(({ processorMs }) => processorMs > HOPELESS_MS)
      ? []
      : largeGrowths(place, growths, small).map((growth) => largeCase(place, growth));
    const large: CostResult[] = [];
    for (const one of cases) {
      if (large.filter(({ status }) => status === 0).length > 1) break;
      large.push(...(await this.#fuzzer.measure(one, true)));
    }
    return {
      key,
      places: places.length,
      requests: this.#fuzzer.sent - before,
      small: small.length,
      large: large.length,
      results: [...noteworthy(small), ...noteworthy(large)],
    };
  }

  /** What is sent of the places of a class but the first: of each the growths that come next in turn. */
  *#shared([first, ...others]: readonly Place[]): Generator<Case> {
    const rules = new Set([first?.rule]);
    let turn = 0;
    for (const place of others) {
      const growths = this.#fuzzer.growths(place);
      const isOther = !rules.has(place.rule);
      rules.add(place.rule);
      const most = this.#isThorough && isOther ? growths.length : isOther ? SHARED.otherRule : SHARED.sameRule;
      const some = Array.from({ length: most }, () => growths[turn++ % growths.length] as Growth);
      yield* screenCases(place, some, SIZES.screen);
    }
  }

  /** The best of three tries where the first was dear: other work on the machine makes any of them slow. */
  async #best(one: Case): Promise<CostResult> {
    let [best] = await this.#fuzzer.measure(one, false);
    for (let tries = 1; tries < 3 && best && best.processorMs > NOTABLE_MS && best.status !== 0; tries += 1) {
      const [again] = await this.#fuzzer.measure(one, true);
      if (again && again.processorMs < best.processorMs) best = again;
    }
    if (!best) throw new Error(`no result of ${placeName(one.place)}`);
    return best;
  }
}

const largeCase = (place: Place, growth: Growth): Case => ({
  place,
  growth,
  size: SIZES.large,
  way: firstWay(place),
  form: growth.isYaml ? "YAML" : "JSON",
});

/** Growths that every place is sent at the large size. */
const ALWAYS = ["equal items", "distinct items", "empty items", "distinct keys", "doubled keys", "aliased"];

/** Growths to send at the large size: the usual ones, and those that cost much more than the others at the small one. */
function largeGrowths({ type }: Place, growths: readonly Growth[], small: readonly CostResult[]): Growth[] {
  const costs = small.slice(0, growths.length).map(({ processorMs }) => processorMs);
  const median = costs.toSorted((a, b) => a - b)[costs.length >> 1] ?? 0;
  return growths.filter(({ name }, index) => {
    const isDear = (costs[index] ?? 0) > Math.max(8, 3 * median);
    const isUsual =
      type === "string" ? index === 0 || name.includes('"\\n"…') : ALWAYS.some((one) => name.startsWith(one));
    return isDear || isUsual;
  });
}

/** The dearest by processor time. */
export function worst(results: readonly CostResult[], count: number): CostResult[] {
  return results.toSorted((one, other) => other.processorMs - one.processorMs).slice(0, count);
}

/** The dearest, all that failed, and all that took much memory. */
export function noteworthy(results: readonly CostResult[]): CostResult[] {
  const dear = new Set(worst(results, KEPT));
  return results.filter((one) => dear.has(one) || isFailure(one) || isGrown(one));
}
