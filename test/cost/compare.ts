import { isKnown } from "../fuzz/known.ts";
import { withoutAllotted } from "../fuzz/objects.ts";
import type { Random } from "../fuzz/random.ts";
import { type Difference, differenceOf } from "../fuzz/twins.ts";
import { startBinnacle } from "../support/binnacle.ts";
import { startOracle } from "../support/oracle.ts";
import { type Case, caseName, matrixCases, SIZES, screenCases } from "./cases.ts";
import { storeCustom } from "./custom.ts";
import type { CostFuzzer } from "./fuzzer.ts";
import { limitOf } from "./limits.ts";
import { OTHER_BASE, type OtherRequest } from "./others.ts";
import type { Place } from "./places.ts";
import { RawClient } from "./raw-client.ts";
import type { PlaceClass } from "./screening.ts";
import type { CostlyRequest } from "./server.ts";
import type { Growth } from "./values.ts";

/** Differing responses, with an example of a request. */
export interface Found {
  readonly name: string;
  readonly difference: Difference;
  count: number;
}

/** Result of sending the same requests to both servers. */
export interface Compared {
  requests: number;
  equal: number;
  /** Requests that kube-apiserver did not answer in time, answered with 504, or panicked on. */
  unanswered: number;
  /** Kinds that kube-apiserver does not serve. */
  readonly notServed: Set<string>;
  /** Differences explained by limits of Binnacle, by name, and differences known from other fuzzers. */
  readonly limits: Map<string, number>;
  known: number;
  readonly found: Map<string, Found>;
}

/** How many of the 45 texts are sent for a string, in rotation. */
const TEXTS_OF_STRING = 6;
const START: readonly CostlyRequest[] = [
  { method: "POST", path: "/api/v1/namespaces", body: Buffer.from('{"metadata":{"name":"fuzz"}}') },
  {
    method: "POST",
    path: "/api/v1/namespaces/fuzz/serviceaccounts",
    body: Buffer.from('{"metadata":{"name":"default"}}'),
  },
  ...OTHER_BASE,
];

/** Sends the requests of the screening to kube-apiserver and Binnacle, and compares the responses. */
export class Comparison {
  readonly result: Compared = {
    requests: 0,
    equal: 0,
    unanswered: 0,
    notServed: new Set(),
    limits: new Map(),
    known: 0,
    found: new Map(),
  };
  readonly #fuzzer: CostFuzzer;
  readonly #theirs: RawClient;
  readonly #ours: RawClient;
  readonly #served = new Map<string, boolean>();
  readonly #stop: () => Promise<void>;
  #turn = 0;
  /** Called when a difference is first found, and with the number of requests. */
  onFound: ((lines: readonly string[]) => void) | undefined;

  private constructor(fuzzer: CostFuzzer, theirs: RawClient, ours: RawClient, stop: () => Promise<void>) {
    this.#fuzzer = fuzzer;
    this.#theirs = theirs;
    this.#ours = ours;
    this.#stop = stop;
  }

  /** Starts both servers. */
  static async start(fuzzer: CostFuzzer, timeoutMs: number): Promise<Comparison> {
    const oracle = await startOracle({ flags: ["--feature-gates=CompositePodGroup=true"] });
    try {
      const binnacle = await startBinnacle();
      const clients = [new RawClient(oracle.base, timeoutMs), new RawClient(binnacle.base, timeoutMs)] as const;
      const comparison = new Comparison(fuzzer, ...clients, async () => {
        for (const client of clients) client.close();
        await Promise.all([oracle.kill(), binnacle.kill()]);
      });
      for (const costly of START) await comparison.#both(costly);
      for (const client of clients) await storeCustom((costly) => client.send(costly));
      return comparison;
    } catch (error) {
      await oracle.kill();
      throw error;
    }
  }

  stop(): Promise<void> {
    return this.#stop();
  }

  /** Compares one place of each class at 100 KB, and then the other requests. */
  async run(classes: readonly PlaceClass[], others: readonly OtherRequest[], until: number): Promise<number> {
    let done = 0;
    for (const { places } of classes) {
      if (performance.now() > until) return done;
      const place = await this.#servedPlace(places);
      if (place) for (const one of this.#casesOf(place)) await this.compareCase(one);
      done += 1;
    }
    for (const { name, costly } of others) {
      if (performance.now() > until) return done;
      await this.#compare(name, "", costly);
    }
    return done;
  }

  /**
   * Compares random requests, of any field, place, growth, way and encoding that stores nothing; one in twenty makes no
   * place large.
   */
  async sample(
    classes: readonly PlaceClass[],
    others: readonly OtherRequest[],
    { random, count, until }: { readonly random: Random; readonly count: number; readonly until: number },
  ): Promise<void> {
    while (this.result.requests < count && performance.now() < until) {
      if (others.length > 0 && (classes.length === 0 || random.chance(0.05))) {
        const { name, costly } = random.pick(others);
        await this.#compare(name, "", costly);
        continue;
      }
      const { places } = random.pick(classes);
      const place = (await this.#servedPlace([random.pick(places)])) ?? (await this.#servedPlace(places));
      if (!place) continue;
      const growth = random.pick(this.#fuzzer.growths(place));
      const ways = matrixCases(place, [growth], SIZES.screen).filter(({ way }) => way !== "store");
      await this.compareCase(random.pick(ways));
    }
  }

  /** Compares the responses to one case. */
  async compareCase(one: Case): Promise<void> {
    await this.#compare(caseName(one), one.place.kind.name, this.#fuzzer.requestOf(one), one);
  }

  #casesOf(place: Place): Case[] {
    const growths = this.#fuzzer.growths(place);
    const some =
      place.type === "string"
        ? Array.from({ length: TEXTS_OF_STRING }, () => growths[this.#turn++ % growths.length] as Growth)
        : growths;
    return screenCases(place, some, SIZES.screen);
  }

  /** The first place of a class whose kind kube-apiserver serves; also creates its object for updates. */
  async #servedPlace(places: readonly Place[]): Promise<Place | undefined> {
    for (const place of places) {
      const { name, path, isReview } = place.kind;
      let isServed = this.#served.get(name);
      if (isServed === undefined) {
        const [theirs] = await this.#both({ method: "GET", path: `${path}?limit=1` });
        isServed = theirs.status !== 404;
        this.#served.set(name, isServed);
        if (!isServed) this.result.notServed.add(name);
        else if (!isReview) await this.#both(this.#fuzzer.base(place));
      }
      if (isServed) return place;
    }
    return undefined;
  }

  async #compare(name: string, kindName: string, costly: CostlyRequest, one?: Case): Promise<void> {
    const { result } = this;
    const answers = await this.#both(costly);
    result.requests += 1;
    if (result.requests % 100 === 0) this.onFound?.([`${result.requests} requests, ${result.equal} equal`]);
    if (answers[0].status === 0 || answers[0].status === 504) {
      result.unanswered += 1;
      return;
    }
    const kind = one?.place.kind;
    const shown = kind ? answers.map((answer) => withoutAllotted(kind, answer)) : answers;
    const difference = differenceOf(shown as typeof answers, name);
    if (!difference) {
      result.equal += 1;
      return;
    }
    const limit = limitOf(difference);
    if (limit !== undefined) result.limits.set(limit, (result.limits.get(limit) ?? 0) + 1);
    else if (isKnown(kindName, difference)) result.known += 1;
    else this.#keep(name, difference);
  }

  #keep(name: string, difference: Difference): void {
    const key = signature(difference);
    const found = this.result.found.get(key);
    if (found) found.count += 1;
    else {
      this.result.found.set(key, { name, difference, count: 1 });
      this.onFound?.(printFound({ name, difference, count: 1 }));
    }
  }

  #both(costly: CostlyRequest) {
    return Promise.all([this.#theirs.send(costly), this.#ours.send(costly)]);
  }
}

/** Differences with the same signature are assumed to have the same cause. */
function signature({ path, theirs, ours }: Difference): string {
  const text = (value: unknown) =>
    (JSON.stringify(value) ?? "")
      .slice(0, 2000)
      .replace(/(.{1,12}?)\1{3,}/g, "$1…")
      .replace(/[\w.[\]]*\.[\w.[\]{}]*/g, "FIELD")
      .replace(/\d+/g, "0")
      .slice(0, 160);
  return [path.replace(/\.\d+/g, ".0"), text(theirs), text(ours)].join("\n");
}

const cut = (value: unknown): string => {
  const text = JSON.stringify(value) ?? "";
  return text.length > 400 ? `${text.slice(0, 280)} … ${text.slice(-100)} (${text.length})` : text;
};

/** The comparison as text. */
export function printCompared({ requests, equal, unanswered, notServed, limits, known, found }: Compared): string[] {
  return [
    `${requests} requests to both servers: ${equal} answers equal, ${unanswered} without an answer of the real server, ${known} known differences, ${[...found.values()].reduce((sum, { count }) => sum + count, 0)} others`,
    `not served there: ${[...notServed].join(", ") || "none"}`,
    ...[...limits].map(([limit, count]) => `${count}× a limit of ours: ${limit}`),
    ...[...found.values()].toSorted((one, other) => other.count - one.count).flatMap(printFound),
  ];
}

function printFound({ name, difference: { path, theirs, ours }, count }: Found): string[] {
  return [`${count}× ${path} of ${name}`, `    theirs ${cut(theirs)}`, `    ours   ${cut(ours)}`];
}
