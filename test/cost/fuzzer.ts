import type { JsonObject } from "../../src/base/api/object.ts";
import { type Case, Requests } from "./cases.ts";
import { Bodies, type Place } from "./places.ts";
import { type CaseKey, type CostResult, heldMs, isGrown, keyOf, MOST_HELD_MS, resultOf } from "./results.ts";
import { type CostlyRequest, CostServer } from "./server.ts";
import type { Growth } from "./values.ts";

/** Above this a server is replaced, so that stored objects do not affect later results. */
const FULL_BYTES = 1_500_000_000;
/** Size of objects that are stored and read again: no store accepts more than 1.5 MiB. */
const MOST_STORED = 1_200_000;

/** How often a request that seems too expensive is sent. */
const MOST_TRIES = 4;

/** Forms in which stored objects are read: one object, and the list that contains it. */
const READS: readonly (readonly [string, string])[] = [
  ["JSON", "application/json"],
  ["YAML", "application/yaml"],
  ["Table", "application/json;as=Table;v=v1;g=meta.k8s.io"],
  ["Table in YAML", "application/yaml;as=Table;v=v1;g=meta.k8s.io"],
  ["protobuf", "application/vnd.kubernetes.protobuf"],
  ["PartialObjectMetadata", "application/json;as=PartialObjectMetadata;v=v1;g=meta.k8s.io"],
  [
    "PartialObjectMetadata in protobuf",
    "application/vnd.kubernetes.protobuf;as=PartialObjectMetadata;v=v1;g=meta.k8s.io",
  ],
];
const QUERIES: readonly (readonly [string, string])[] = [
  ["pretty", "pretty=true"],
  ["by a label", "labelSelector=a%3Db"],
];

/** One request of a case, and its name. */
export interface Step {
  readonly read?: string;
  readonly costly: CostlyRequest;
}

/** Sends cases to a server, and replaces it when it no longer responds. */
export class CostFuzzer {
  readonly #requests = new Requests(new Bodies());
  readonly #bases = new Set<string>();
  readonly #timeoutMs: number;
  #server: CostServer | undefined;
  #names = 0;
  sent = 0;

  /** A request may take `timeoutMs` before its server is replaced. */
  constructor(timeoutMs: number) {
    this.#timeoutMs = timeoutMs;
  }

  async stop(): Promise<void> {
    await this.#server?.stop();
    this.#server = undefined;
  }

  /** The ways to enlarge a place. */
  growths(place: Place): Growth[] {
    return this.#requests.growths(place);
  }

  /** The request of a case; stored objects get unique names. */
  requestOf(one: Case): CostlyRequest {
    if (one.way !== "store") return this.#requests.of(one, "c");
    this.#names += 1;
    return this.#requests.of({ ...one, size: Math.min(one.size, MOST_STORED) }, `c${this.#names}`);
  }

  /** The name under which a case was last stored. */
  nameOf({ place }: Case): string {
    const metadata = this.#requests.named(place, `c${this.#names}`).metadata as JsonObject;
    return String(metadata.name);
  }

  /** The object that updates and patches of a kind apply to. */
  base(place: Place): CostlyRequest {
    const body = Buffer.from(JSON.stringify(this.#requests.base(place) ?? {}));
    return { method: "POST", path: place.kind.path, body };
  }

  /** Measures a case; stored objects are read in every form and deleted. */
  async measure(one: Case, isProbed: boolean): Promise<CostResult[]> {
    const server = await this.#ready(one);
    const costly = this.requestOf(one);
    const bytes = costly.body?.length ?? 0;
    const { result, text } = await this.#least(server, costly, { key: keyOf(one), bytes, isProbed });
    const results = [result];
    if (result.status === 0) await this.#giveUp();
    else if (one.way === "store" && result.status === 201) {
      for (const { read, costly: reading } of readsOf(one, text)) {
        const { result: reads } = await this.#least(server, reading, { key: keyOf(one, read), bytes, isProbed });
        results.push(reads);
        if (reads.status === 0) {
          await this.#giveUp();
          break;
        }
      }
    }
    return results;
  }

  /** Measures a request that enlarges no place. */
  async send(costly: CostlyRequest, isProbed: boolean, name: string): Promise<CostResult> {
    const server = await this.#ready();
    const bytes = (costly.body?.length ?? 0) + costly.path.length + JSON.stringify(costly.headers ?? {}).length;
    const key: CaseKey = ["", "", name, 0, costly.method, "", ""];
    const { result } = await this.#least(server, costly, { key, bytes, isProbed });
    if (result.status === 0) await this.#giveUp();
    return result;
  }

  /**
   * The minimum of several tries if the first seems to block the event loop or to use much memory, unless it changes
   * the result of the next.
   */
  async #least(
    server: CostServer,
    costly: CostlyRequest,
    { key, bytes, isProbed }: { readonly key: CaseKey; readonly bytes: number; readonly isProbed: boolean },
  ): Promise<{ result: CostResult; text: string }> {
    const isRepeatable = costly.method === "GET" || costly.path.includes("dryRun=All");
    let best: { result: CostResult; text: string } | undefined;
    for (let tries = 0; tries < MOST_TRIES; tries += 1) {
      const cost = await server.measure(costly, isProbed || tries > 0);
      this.sent += 1;
      const result = resultOf(key, cost, bytes);
      const grownBytes = Math.min(result.grownBytes, best?.result.grownBytes ?? Number.POSITIVE_INFINITY);
      const isBetter = best === undefined || cost.status === 0 || heldMs(result) < heldMs(best.result);
      best = isBetter ? { result, text: cost.text } : (best as NonNullable<typeof best>);
      best = { ...best, result: { ...best.result, grownBytes } };
      const isSuspicious = heldMs(best.result) > MOST_HELD_MS || isGrown(best.result);
      if (!isRepeatable || !isSuspicious || cost.status === 0) break;
    }
    return best as NonNullable<typeof best>;
  }

  /** A server that is neither stuck nor full, with the object that the case uses. */
  async #ready(one?: Case): Promise<CostServer> {
    if (this.#server && this.#server.memory("VmRSS") > FULL_BYTES) await this.#giveUp();
    this.#server ??= await CostServer.start(this.#timeoutMs);
    if (one === undefined || one.way === "create" || one.way === "store") return this.#server;
    const { place } = one;
    if (!this.#bases.has(place.kind.name)) {
      this.#bases.add(place.kind.name);
      await this.#server.send(this.base(place));
    }
    return this.#server;
  }

  async #giveUp(): Promise<void> {
    await this.#server?.stop(true);
    this.#server = undefined;
    this.#bases.clear();
  }
}

/** The reads of a stored case, based on the start of the response to its create, and its deletion. */
export function readsOf({ place }: Case, text: string): Step[] {
  const [, name] = /"name": ?"([^"]{1,300})"/.exec(text.slice(Math.max(0, text.indexOf('"metadata"')))) ?? [];
  if (name === undefined) return [];
  const { path } = place.kind;
  const object = `${path}/${encodeURIComponent(name)}`;
  const get = (target: string, accept: string): CostlyRequest => ({ method: "GET", path: target, headers: { accept } });
  return [
    ...READS.map(([form, accept]) => ({ read: `read as ${form}`, costly: get(object, accept) })),
    ...READS.map(([form, accept]) => ({ read: `listed as ${form}`, costly: get(path, accept) })),
    ...QUERIES.map(([form, query]) => ({
      read: `listed ${form}`,
      costly: get(`${path}?${query}`, "application/json"),
    })),
    { read: "deleted", costly: { method: "DELETE", path: `${object}?gracePeriodSeconds=0` } },
  ];
}
