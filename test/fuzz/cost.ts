import { type Case, caseName, furtherCases, Requests, SIZES, screenCases } from "./cost-cases.ts";
import { allPlaces, Bodies, type Place } from "./cost-places.ts";
import { holdersOf } from "./cost-profile.ts";
import { type CostlyRequest, CostServer } from "./cost-server.ts";
import type { Growth } from "./cost-values.ts";
import { Random } from "./random.ts";

/** What one case, or one read of what it stored, cost. */
export interface CostResult {
  readonly name: string;
  readonly requests: readonly CostlyRequest[];
  readonly status: number;
  readonly stallMs: number;
  readonly grownBytes: number;
  readonly bodyBytes: number;
  readonly text: string;
}

/** How a run is bounded. */
export interface CostOptions {
  readonly screen: number;
  readonly large: number;
  /** When no further place is begun. */
  readonly until: number;
  /** How long a request may take before its server is given up. */
  readonly timeoutMs: number;
}

/** Requests that are sent one after the other stand for none that is worth a look alone below this. */
const QUIET_MS = 60;
/** A place that takes so long at the small size is not tried at the large one. */
const HOPELESS_MS = 1500;
/** After so many requests without an answer no other large one of the place is tried. */
const MOST_LOST = 2;
const FULL_BYTES = 1_500_000_000;
/** What is stored to be read again: no store takes more than 1.5 MiB. */
const MOST_STORED = 1_200_000;
const READS: readonly (readonly [string, string])[] = [
  ["YAML", "application/yaml"],
  ["Table", "application/json;as=Table;v=v1;g=meta.k8s.io"],
  ["protobuf", "application/vnd.kubernetes.protobuf"],
];

/** Makes one place after the other large, and keeps what each request cost. */
export class CostFuzzer {
  readonly results: CostResult[] = [];
  readonly #options: CostOptions;
  readonly #requests = new Requests(new Bodies());
  readonly #bases = new Set<string>();
  #server: CostServer | undefined;
  #names = 0;
  sent = 0;
  places = 0;

  constructor(options: CostOptions) {
    this.#options = options;
  }

  /** Tries places in turn until the time is over. */
  async run(places: readonly Place[]): Promise<void> {
    for (const place of places) {
      if (performance.now() > this.#options.until) return;
      await this.#place(place);
      this.places += 1;
    }
  }

  async stop(): Promise<void> {
    await this.#server?.stop();
    this.#server = undefined;
  }

  async #place(place: Place): Promise<void> {
    const { screen, large } = this.#options;
    const growths = this.#requests.growths(place);
    const small = screenCases(place, growths, screen);
    const isQuiet = await this.#together(small);
    let worst = 0;
    if (!isQuiet) for (const one of small) worst = Math.max(worst, await this.#alone(one));
    if (worst > HOPELESS_MS) return;
    const further = furtherCases(place, growths, screen, large);
    const most = further.filter(({ size }) => size === screen);
    if (!(await this.#together(most))) for (const one of most) await this.#alone(one);
    let lost = 0;
    for (const one of further.filter(({ size }) => size !== screen)) {
      if (lost < MOST_LOST && (await this.#alone(one)) >= this.#options.timeoutMs) lost += 1;
    }
    const stored =
      place.type === "string" ? growths.filter(({ name }) => name.includes('"\\n"…')) : growths.slice(0, 2);
    for (const growth of stored) {
      if (!place.kind.isReview && place.steps[0] !== "status")
        await this.#reads({ place, growth, size: Math.min(large, MOST_STORED), way: "store", form: "JSON" });
    }
  }

  /** Whether cases that are sent one right after the other disturb nobody. */
  async #together(cases: readonly Case[]): Promise<boolean> {
    if (cases.length === 0) return true;
    const server = await this.#ready(cases);
    const requests = cases.map((one) => this.#requests.of(one, this.#name()));
    const cost = await server.measure(requests);
    this.sent += requests.length;
    const isQuiet = cost.stallMs < QUIET_MS && !cost.statuses.some((status) => status === 0 || status === 500);
    if (cost.status === 0) await this.#giveUp();
    return isQuiet;
  }

  /** Measures one case, and reads what it stores. */
  async one(one: Case): Promise<void> {
    if (one.way === "store") await this.#reads({ ...one, size: Math.min(one.size, MOST_STORED) });
    else await this.#alone(one);
  }

  /** The ways to make a place large. */
  growths(place: Place): Growth[] {
    return this.#requests.growths(place);
  }

  /** Measures one case and gives the stall. */
  async #alone(one: Case): Promise<number> {
    const server = await this.#ready([one]);
    return (await this.#measure(server, caseName(one), [], this.#requests.of(one, this.#name()))).stallMs;
  }

  /** Stores an object and reads it in other forms. */
  async #reads(one: Case): Promise<void> {
    const server = await this.#ready([one]);
    const create = this.#requests.of(one, this.#name());
    const stored = await this.#measure(server, caseName(one), [], create);
    if (stored.status !== 201) return;
    const [, name] = /"name": ?"([^"]+)"/.exec(stored.text.slice(stored.text.indexOf('"metadata"'))) ?? [];
    if (name === undefined) return;
    const path = `${one.place.kind.path}/${encodeURIComponent(name)}`;
    for (const [form, accept] of READS) {
      const read = { method: "GET", path, headers: { accept } };
      await this.#measure(server, `${caseName(one)}, read as ${form}`, [create], read);
      if (!this.#server) return;
    }
    await server.send({ method: "DELETE", path: `${path}?gracePeriodSeconds=0` });
  }

  async #measure(
    server: CostServer,
    name: string,
    before: readonly CostlyRequest[],
    costly: CostlyRequest,
  ): Promise<CostResult> {
    const { status, stallMs, grownBytes, text } = await server.measure([costly]);
    this.sent += 1;
    const bodyBytes = costly.body?.length ?? 0;
    const result = { name, requests: [...before, costly], status, stallMs, grownBytes, bodyBytes, text };
    this.#keep(result);
    if (status === 0) await this.#giveUp();
    return result;
  }

  /** Bodies are kept of those results only that may be among the worst. */
  #keep(result: CostResult): void {
    this.results.push(result.stallMs < QUIET_MS && !isFailure(result) ? { ...result, requests: [] } : result);
    if (this.results.length % 500 !== 0) return;
    const worst = new Set(byStall(this.results).slice(0, 20));
    for (const [index, one] of this.results.entries()) {
      if (!worst.has(one) && one.requests.length > 0) this.results[index] = { ...one, requests: [] };
    }
  }

  #name(): string {
    this.#names += 1;
    return `c${this.#names}`;
  }

  /** A server that is neither stuck nor full, with the object that the cases are about. */
  async #ready(cases: readonly Case[]): Promise<CostServer> {
    if (this.#server && this.#server.memory("VmRSS") > FULL_BYTES) await this.#giveUp();
    this.#server ??= await CostServer.start(this.#options.timeoutMs);
    const [{ place } = {}] = cases.filter(({ way }) => way !== "create" && way !== "store");
    if (place && !this.#bases.has(place.kind.name)) {
      this.#bases.add(place.kind.name);
      const body = Buffer.from(JSON.stringify(this.#requests.base(place) ?? {}));
      await this.#server.send({ method: "POST", path: place.kind.path, body });
    }
    return this.#server;
  }

  async #giveUp(): Promise<void> {
    await this.#server?.stop(true);
    this.#server = undefined;
    this.#bases.clear();
  }
}

/** Compat: a resourceVersion in a create, duplicates and unknown fields in an apply, and what etcd finds too large are 500 upstream. */
const UPSTREAM_500 =
  /failed to create typed patch object|resourceVersion should not be set on objects to be created|request is too large/;

/** Whether a request made the server fail. */
export const isFailure = ({ status, text }: CostResult): boolean => status === 500 && !UPSTREAM_500.test(text);

/** Results with the longest stalls first. */
export function byStall(results: readonly CostResult[]): CostResult[] {
  return results.toSorted((one, other) => other.stallMs - one.stallMs);
}

const MB = 1_000_000;

/** A result as one line. */
export function printCost({ name, status, stallMs, grownBytes, bodyBytes }: CostResult): string {
  const memory = `+${Math.round(grownBytes / MB)} MB for ${(bodyBytes / MB).toFixed(1)} MB`;
  return `${String(Math.round(stallMs)).padStart(6)} ms  ${status || "none"}  ${memory}  ${name}`;
}

/** The stalls in words: how many were how long. */
function distribution(results: readonly CostResult[]): string {
  const bounds = [50, 100, 250, 500, 1000, 2000];
  return bounds.map((ms) => `${results.filter(({ stallMs }) => stallMs > ms).length} above ${ms} ms`).join(", ");
}

/** Places in an order of a seed's own, one for each field of each component before any other. */
function shuffled(places: readonly Place[], random: Random): Place[] {
  const keys = new Set<string>();
  const rank = places.map((place) => {
    const isAgain = keys.has(place.key);
    keys.add(place.key);
    return { place, order: (isAgain ? 1 : 0) + random.next() };
  });
  return rank.sort((one, other) => one.order - other.order).map(({ place }) => place);
}

if (import.meta.main) {
  const { FUZZ_KIND, FUZZ_SEED, COST_SIZE, COST_SECONDS, COST_PLACE, COST_TYPE } = process.env;
  const seed = Number(FUZZ_SEED ?? Math.floor(Math.random() * 2 ** 31));
  const until = performance.now() + Number(COST_SECONDS ?? 1800) * 1000;
  const large = Number(COST_SIZE ?? SIZES.large);
  const fuzzer = new CostFuzzer({ screen: Math.min(large, SIZES.screen), large, until, timeoutMs: 20_000 });
  const places = shuffled(allPlaces(FUZZ_KIND), new Random(seed)).filter(
    ({ key, type }) => key.includes(COST_PLACE ?? "") && (COST_TYPE?.split(",").includes(type) ?? true),
  );
  try {
    await fuzzer.run(places);
  } finally {
    await fuzzer.stop();
  }
  const { results, sent } = fuzzer;
  const worst = byStall(results);
  const failed = results.filter(isFailure);
  const out = (line: string) => process.stdout.write(`${line}\n`);
  out(`seed ${seed}: ${fuzzer.places} of ${places.length} places, ${sent} requests, ${results.length} measured alone`);
  out(`stalls: ${distribution(results)}; ${failed.length} answers 500`);
  for (const one of worst.slice(0, 100)) out(printCost(one));
  out("most memory:");
  for (const one of results.toSorted((a, b) => b.grownBytes - a.grownBytes).slice(0, 20)) out(printCost(one));
  for (const one of failed) out(`500: ${one.name}\n  ${one.text.slice(0, 300)}`);
  for (const one of worst.slice(0, 10).filter(({ requests }) => requests.length > 0)) {
    out(`${one.name}\n  held by ${await holdersOf(one.requests, 20_000)}`);
  }
  process.exitCode = failed.length > 0 || (worst[0]?.stallMs ?? 0) > 2000 ? 1 : 0;
}
