import type { Random } from "../fuzz/random.ts";
import { type Case, matrixCases, SIZES } from "./cases.ts";
import { CUSTOM_BASE, storeCustom } from "./custom.ts";
import { type CostFuzzer, readsOf } from "./fuzzer.ts";
import { OTHER_BASE, type OtherRequest } from "./others.ts";
import { type Place, placeName } from "./places.ts";
import type { CaseKey, CostResult } from "./results.ts";
import { noteworthy, type PlaceClass, worst } from "./screening.ts";
import type { CostlyRequest } from "./server.ts";
import type { RunState, Screened } from "./state.ts";
import type { Growth } from "./values.ts";

/** Bounds of a matrix. */
export interface MatrixBounds {
  /** How many of the most expensive places are sent, and how many random others. */
  readonly dearest: number;
  readonly sample: number;
  readonly until: number;
}

/** Places selected by a screening. */
export interface Chosen {
  readonly dear: readonly PlaceClass[];
  readonly sampled: readonly PlaceClass[];
  /** Places above the bounds that are not among the most expensive. */
  readonly leftOut: number;
}

/** CPU time at each size above which a place is sent in every way. */
export const DEAR_MS = { screen: 20, large: 400 } as const;

const isDear = ({ key: [, , , size], processorMs }: CostResult): boolean =>
  processorMs > (size > SIZES.screen ? DEAR_MS.large : DEAR_MS.screen);

/** Selects the most expensive places, and some of the others. */
export function choose(
  classes: readonly PlaceClass[],
  screened: readonly Screened[],
  random: Random,
  { dearest, sample }: MatrixBounds,
): Chosen {
  const byKey = new Map(classes.map((one) => [one.key, one]));
  const results = (key: string) => screened.filter((one) => one.key === key).flatMap((one) => one.results);
  const known = [...new Set(screened.map(({ key }) => key))]
    .map((key) => ({ key, results: results(key), cost: worst(results(key), 1)[0]?.processorMs ?? 0 }))
    .sort((one, other) => other.cost - one.cost);
  const dear = known.filter((one) => one.results.some(isDear));
  const others = known
    .filter((one) => !dear.includes(one))
    .map((one) => ({ one, order: random.next() }))
    .sort((one, other) => one.order - other.order)
    .map(({ one }) => one);
  const find = (some: readonly { key: string }[]) => some.flatMap(({ key }) => byKey.get(key) ?? []);
  return {
    dear: find(dear.slice(0, dearest)),
    sampled: find(others.slice(0, sample)),
    leftOut: Math.max(0, dear.length - dearest),
  };
}

/** Sends a place in every way and encoding, with its most expensive growth, an ordinary one and one with aliases. */
export async function sendMatrix(
  fuzzer: CostFuzzer,
  { key, places }: PlaceClass,
  screened: readonly Screened[],
): Promise<CostResult[]> {
  const [place] = places;
  if (!place) return [];
  const growths = fuzzer.growths(place);
  const [dearest] = worst(
    screened.filter((one) => one.key === key).flatMap((one) => one.results),
    1,
  );
  const named = (name: string | undefined) => growths.find((one) => one.name === name);
  const chosen = new Set(
    [named(dearest?.key[2]), growths[1], growths.find(({ isYaml }) => isYaml)].filter((one) => one !== undefined),
  );
  const results: CostResult[] = [];
  for (const size of [SIZES.screen, SIZES.large]) {
    for (const one of matrixCases(place, [...chosen], size)) {
      if (results.filter(({ status }) => status === 0).length > 2) break;
      results.push(...(await fuzzer.measure(one, true)));
    }
  }
  return results;
}

/** Sends the unscreened requests that make no place large. */
export async function sendOthers(
  fuzzer: CostFuzzer,
  requests: readonly OtherRequest[],
  state: RunState,
  until: number,
): Promise<{ count: number; results: CostResult[] }> {
  const prepare = async () => {
    for (const costly of OTHER_BASE) await fuzzer.send(costly, false, "");
    await storeCustom((costly) => fuzzer.send(costly, false, ""));
  };
  const results: CostResult[] = [];
  let isPrepared = false;
  for (const request of requests) {
    const { name } = request;
    let known = state.find(name, "other");
    if (!known && performance.now() < until) {
      if (!isPrepared) await prepare();
      const before = fuzzer.sent;
      const result = await bestOf(fuzzer, request.costly, name);
      known = { key: name, size: "other", places: 0, requests: fuzzer.sent - before, results: [result] };
      state.keep(known);
      // After a timeout the next request goes to a new server.
      isPrepared = result.status !== 0;
    }
    for (const result of known?.results ?? []) results.push(result);
  }
  return { count: results.length, results: [...noteworthy(results), ...worst(results, 100)] };
}

async function bestOf(fuzzer: CostFuzzer, costly: CostlyRequest, name: string): Promise<CostResult> {
  const result = await fuzzer.send(costly, false, name);
  if (result.processorMs <= DEAR_MS.screen || result.status === 0) return result;
  const again = await fuzzer.send(costly, true, name);
  return again.processorMs < result.processorMs || result.stallMs === undefined ? again : result;
}

/** Rebuilds the requests that lead to a result and end with the measured one; empty if the key is unknown. */
export class Replays {
  readonly #fuzzer: CostFuzzer;
  readonly #places: ReadonlyMap<string, Place>;
  readonly #others: ReadonlyMap<string, OtherRequest>;

  constructor(fuzzer: CostFuzzer, places: readonly Place[], others: readonly OtherRequest[]) {
    this.#fuzzer = fuzzer;
    this.#places = new Map(places.map((place) => [`${place.kind.name} ${placeName(place)}`, place]));
    this.#others = new Map(others.map((one) => [one.name, one]));
  }

  of(key: CaseKey): CostlyRequest[] {
    const [, , name, , , , read] = key;
    const other = this.#others.get(name);
    if (other) return [...OTHER_BASE, ...CUSTOM_BASE, other.costly];
    const one = this.caseOf(key);
    if (!one) return [];
    const costly = this.#fuzzer.requestOf(one);
    const isNew = one.way === "create" || one.way === "store";
    const before = isNew ? [] : [this.#fuzzer.base(one.place)];
    if (read === undefined) return [...before, costly];
    const stored = `"metadata":${JSON.stringify({ name: this.#fuzzer.nameOf(one) })}`;
    const reading = readsOf(one, stored).find((step) => step.read === read)?.costly;
    return reading ? [costly, reading] : [];
  }

  /** The case of a key. */
  caseOf([kind, at, growthName, size, way, form]: CaseKey): Case | undefined {
    const place = this.#places.get(`${kind} ${at}`);
    const growth = place && this.#fuzzer.growths(place).find((one: Growth) => one.name === growthName);
    return growth && { place, growth, size, way: way as Case["way"], form: form as Case["form"] };
  }
}
