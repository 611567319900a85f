import { type Case, firstWay, SIZES, screenCases } from "./cases.ts";
import type { CostFuzzer } from "./fuzzer.ts";
import { type Place, placeName } from "./places.ts";
import { type CostResult, heldMs, isFailure, isGrown } from "./results.ts";
import type { RunState, Screened } from "./state.ts";
import type { Growth } from "./values.ts";

/** The places of one field of one type, in all kinds and versions that have it. */
export interface PlaceClass {
  readonly key: string;
  readonly places: readonly Place[];
}

/** A small request with this CPU time is repeated, and the best of three tries counts. */
export const NOTABLE_MS = 20;
/** A place that takes this long at the small size is not tried at the large one. */
const HOPELESS_MS = 1500;
/** How many results of a class and size are kept. */
const KEPT = 3;

/**
 * How many growths are sent for further places of a field: where other functions read it, and where the same ones do.
 */
const SHARED = { otherRule: 4, sameRule: 1 } as const;

/**
 * Strings are sent with these texts, and with the others in rotation. All regular expressions of the server are linear
 * (`test/expressions.test.ts`), so expensive code is a loop that a common character triggers.
 */
const USUAL_TEXTS = ["a", "0", " ", "a.", "/", ":", '"', "\u0000", "\n"].map((run) => ` ${JSON.stringify(run)}…`);
const TEXTS_IN_TURN = 9;

/** Groups places by field. */
export function classesOf(places: readonly Place[]): PlaceClass[] {
  const byKey = Map.groupBy(places, ({ key }) => key);
  return [...byKey].map(([key, same]) => ({ key, places: same }));
}

/**
 * Sends the growths of one place of every class at 100 KB (for strings, some of the texts), and some in rotation for
 * its other places. At 2.5 MB it sends those that the small size does not predict.
 */
export class Screening {
  readonly #fuzzer: CostFuzzer;
  readonly #state: RunState;
  readonly #isThorough: boolean;
  #turn = 0;

  /**
   * Classes in `state` are not sent again; results are written to it. `isThorough`: sends every growth to every field,
   * and wherever other functions read it.
   */
  constructor(fuzzer: CostFuzzer, state: RunState, isThorough = false) {
    this.#fuzzer = fuzzer;
    this.#isThorough = isThorough;
    this.#state = state;
  }

  /**
   * Screens all classes at the small size, and then at the large one until the time is over: the most expensive of
   * every kind and type first, then the next. Returns the results so far.
   */
  async run(classes: readonly PlaceClass[], until: number, isDone?: (count: number) => void): Promise<Screened[]> {
    const all: Screened[] = [];
    const keep = (screened: Screened | undefined) => {
      if (!screened) return;
      all.push(screened);
      isDone?.(all.length);
    };
    for (const one of classes) keep(await this.#once(one, "screen", until, () => this.#small(one)));
    const small = new Map(all.map((one) => [one.key, one]));
    const costOf = ({ key }: PlaceClass) => worst(small.get(key)?.results ?? [], 1)[0]?.processorMs ?? 0;
    for (const one of inTurns(classes.toSorted((a, b) => costOf(b) - costOf(a)))) {
      const names = small.get(one.key)?.next;
      if (names) keep(await this.#once(one, "large", until, () => this.#large(one, names)));
    }
    return all;
  }

  async #once(
    { key, places }: PlaceClass,
    size: Screened["size"],
    until: number,
    send: () => Promise<Pick<Screened, "results" | "next">>,
  ): Promise<Screened | undefined> {
    const known = this.#state.find(key, size);
    if (known || performance.now() > until) return known;
    const before = this.#fuzzer.sent;
    const found = await send();
    const screened = { key, size, places: places.length, requests: this.#fuzzer.sent - before, ...found };
    this.#state.keep(screened);
    return screened;
  }

  async #small({ key, places }: PlaceClass): Promise<Pick<Screened, "results" | "next">> {
    const [place] = places;
    if (!place) throw new Error(`no place in ${key}`);
    const growths = this.#growths(place);
    const results: CostResult[] = [];
    for (const one of screenCases(place, growths, SIZES.screen)) results.push(await this.#best(one));
    for (const one of this.#shared(places)) results.push(await this.#best(one));
    const isHopeless = worst(results, 1).some(({ processorMs }) => processorMs > HOPELESS_MS);
    const next = isHopeless ? [] : largeGrowths(place, growths, results).map(({ name }) => name);
    return { results: noteworthy(results), next };
  }

  async #large({ places }: PlaceClass, names: readonly string[]): Promise<Pick<Screened, "results">> {
    const results: CostResult[] = [];
    const [place] = places;
    const growths = place ? this.#fuzzer.growths(place).filter(({ name }) => names.includes(name)) : [];
    for (const growth of growths) {
      if (!place || results.filter(({ status }) => status === 0).length > 1) break;
      results.push(...(await this.#fuzzer.measure(largeCase(place, growth), true)));
    }
    return { results: noteworthy(results) };
  }

  #growths(place: Place): Growth[] {
    const all = this.#fuzzer.growths(place);
    if (this.#isThorough || place.type !== "string") return all;
    const usual = all.filter(({ name }) => USUAL_TEXTS.some((text) => name.includes(text)));
    const others = all.filter((one) => !usual.includes(one));
    const inTurn = Array.from({ length: TEXTS_IN_TURN }, () => others[this.#turn++ % others.length] as Growth);
    return [...usual, ...inTurn];
  }

  /** The cases of the further places of a class: for each the next growths in rotation. */
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

  /** The best of three tries if the first was expensive: other load on the machine may slow down any of them. */
  async #best(one: Case): Promise<CostResult> {
    let [best] = await this.#fuzzer.measure(one, false);
    for (let tries = 1; tries < 3 && best && best.processorMs > NOTABLE_MS && best.status !== 0; tries += 1) {
      const [again] = await this.#fuzzer.measure(one, true);
      if (!again) continue;
      const stallMs = Math.min(best.stallMs ?? Number.POSITIVE_INFINITY, again.stallMs ?? Number.POSITIVE_INFINITY);
      best = { ...(again.processorMs < best.processorMs ? again : best), stallMs };
    }
    if (!best) throw new Error(`no result of ${placeName(one.place)}`);
    return best;
  }
}

/** The first class of every kind and type, then the second of each, and so on. */
function inTurns(classes: readonly PlaceClass[]): PlaceClass[] {
  const turns = new Map<string, number>();
  const withTurn = classes.map((one) => {
    const [place] = one.places;
    const group = `${place?.kind.name} ${place?.type}`;
    const turn = turns.get(group) ?? 0;
    turns.set(group, turn + 1);
    return { one, turn };
  });
  return withTurn.toSorted((a, b) => a.turn - b.turn).map(({ one }) => one);
}

const largeCase = (place: Place, growth: Growth): Case => ({
  place,
  growth,
  size: SIZES.large,
  way: firstWay(place),
  form: growth.isYaml ? "YAML" : "JSON",
});

/** Growths that are sent for every place at the large size. */
const ALWAYS = ["equal items", "distinct items", "empty items", "distinct keys", "doubled keys", "aliased"];

/**
 * Growths to send at the large size: the usual ones, and those that are much more expensive than the others at the
 * small one.
 */
function largeGrowths({ type }: Place, growths: readonly Growth[], small: readonly CostResult[]): Growth[] {
  const costs = small.slice(0, growths.length).map(({ processorMs }) => processorMs);
  const median = costs.toSorted((a, b) => a - b)[costs.length >> 1] ?? 0;
  return growths.filter(({ name }, index) => {
    const isDear = (costs[index] ?? 0) > Math.max(8, 3 * median);
    const isUsual =
      type === "string"
        ? index === 0 || name.includes('"\\n"…') || name.includes('"\\u0000"…')
        : ALWAYS.some((one) => name.startsWith(one));
    return isDear || isUsual;
  });
}

/** The most expensive results by CPU time. */
export function worst(results: readonly CostResult[], count: number): CostResult[] {
  return results.toSorted((one, other) => other.processorMs - one.processorMs).slice(0, count);
}

/** The most expensive results, those that blocked the event loop longest, all failures, and all with much memory. */
export function noteworthy(results: readonly CostResult[]): CostResult[] {
  const held = results.toSorted((one, other) => heldMs(other) - heldMs(one)).slice(0, KEPT);
  const dear = new Set([...worst(results, KEPT), ...held]);
  return results.filter((one) => dear.has(one) || isFailure(one) || isGrown(one));
}
