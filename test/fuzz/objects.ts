import { isObject, type JsonObject } from "../../src/base/api/object.ts";
import type { Answer } from "../support/client.ts";
import { type Corpus, readCorpus } from "./corpus.ts";
import { applyEdits, type Edit, type EditSource, randomEdit } from "./edits.ts";
import { allKinds, type FuzzedKind, kindsOfSpecification, named, settleExpressions } from "./kinds.ts";
import { isKnown } from "./known.ts";
import { inLanes, numbersWhile } from "./lanes.ts";
import { OBJECT_SEEDS } from "./object-seeds.ts";
import { CONTENT_TYPES } from "./operations.ts";
import { Random } from "./random.ts";
import { type Difference, differenceOf, printPanics, Twins, unlessPanic } from "./twins.ts";
import { Values } from "./values.ts";

/** One object's life: how it is created, and what is written to it then. */
interface Life {
  readonly body: JsonObject;
  readonly edits: readonly Edit[];
  readonly updates: readonly Update[];
}

interface Update {
  readonly subresource: "" | "status";
  readonly edits: readonly Edit[];
}

/** Something that the two servers do not agree about. */
export interface Finding {
  readonly life: Life;
  readonly difference: Difference;
  /** How many objects showed it. */
  count: number;
}

/** What came of one kind. */
export interface KindResult {
  readonly name: string;
  /** Why it cannot be compared; undefined when it was. */
  readonly skipped?: string;
  objects: number;
  created: number;
  requests: number;
  /** Objects that differed in a known way. */
  known: number;
  /** Objects that differed once, and not when the same was done again with nothing else going on. */
  unsteady: number;
  readonly findings: Finding[];
}

const MOST_SHRUNK = 15;
const LANES = 12;

/** Sends random objects of a kind to both servers: creates them, writes to them and deletes them. */
export class ObjectFuzzer {
  readonly #twins: Twins;
  readonly #corpus: Corpus;
  readonly #seed: number;
  readonly #tag: string;
  #names = 0;
  #requests = 0;

  /** `tag` is part of all names, for servers that keep objects of an earlier run. */
  constructor(twins: Twins, seed: number, tag = "") {
    this.#twins = twins;
    this.#corpus = readCorpus();
    this.#seed = seed;
    this.#tag = tag;
  }

  /** Tries so many objects of a kind, several at a time. */
  async run(kind: FuzzedKind, count: number): Promise<KindResult> {
    const result: KindResult = {
      name: kind.name,
      objects: 0,
      created: 0,
      requests: 0,
      known: 0,
      unsteady: 0,
      findings: [],
    };
    const [theirs] = await this.#twins.call("GET", `${kind.path}?limit=1`);
    if (theirs.status === 404) return { ...result, skipped: "the real server does not serve this version" };
    const bodies = [...(this.#corpus.bodies.get(`${kind.apiVersion} ${kind.kind}`) ?? []), ...seedsOf(kind)];
    if (bodies.length === 0) return { ...result, skipped: "no body to start from" };
    this.#requests = 0;
    const numbers = numbersWhile((number) => number < count);
    await inLanes(kind.isAlone ? 1 : LANES, numbers, (number) => this.#one(kind, bodies, number, result));
    result.requests = this.#requests;
    return result;
  }

  async #one(kind: FuzzedKind, bodies: readonly JsonObject[], index: number, result: KindResult): Promise<void> {
    const random = new Random(Math.imul(this.#seed ^ hashOf(kind.name), 0x9e3779b1) + index * 7919);
    const source = { random, values: new Values(random, this.#corpus), schema: kind.schema };
    const body = random.pick(bodies);
    const edits = createEdits(source, body, index % 2 === 0);
    const updates: Update[] = [];
    const choose = (object: JsonObject, round: number) => {
      if (round >= (random.chance(0.3) ? 2 : 1)) return undefined;
      const update = randomUpdate(kind, source, object);
      updates.push(update);
      return update;
    };
    const { difference, created } = await this.#live(kind, { body, edits }, choose);
    result.objects += 1;
    if (created) result.created += 1;
    if (!difference) return;
    await this.#record(kind, { body, edits, updates }, result);
  }

  /** Sees whether a difference stays when nothing else happens, and makes what leads to it smaller. */
  async #record(kind: FuzzedKind, life: Life, result: KindResult): Promise<void> {
    const difference = await this.#replay(kind, life);
    if (!difference) {
      result.unsteady += 1;
      return;
    }
    if (isKnown(kind.name, difference)) {
      result.known += 1;
      return;
    }
    const same = result.findings.find((finding) => signature(finding.difference) === signature(difference));
    if (same) {
      same.count += 1;
      return;
    }
    const finding = { life, difference, count: 1 };
    result.findings.push(finding);
    if (result.findings.length > MOST_SHRUNK) return;
    Object.assign(finding, { life: await this.#shrink(kind, life, difference) });
  }

  async #shrink(kind: FuzzedKind, life: Life, difference: Difference): Promise<Life> {
    let best = life;
    const attempt = async (smaller: Life) => {
      const found = await this.#replay(kind, smaller);
      if (found && signature(found) === signature(difference)) best = smaller;
    };
    for (let at = life.edits.length - 1; at >= 0; at -= 1)
      await attempt({ ...best, edits: best.edits.toSpliced(at, 1) });
    for (let at = life.updates.length - 1; at >= 0; at -= 1) {
      await attempt({ ...best, updates: best.updates.toSpliced(at, 1) });
    }
    for (const [at, { edits }] of best.updates.entries()) {
      for (let one = edits.length - 1; one >= 0; one -= 1) {
        const update = best.updates[at];
        if (!update) continue;
        const smaller = { ...update, edits: update.edits.toSpliced(one, 1) };
        await attempt({ ...best, updates: best.updates.with(at, smaller) });
      }
    }
    return best;
  }

  async #replay(kind: FuzzedKind, { body, edits, updates }: Life): Promise<Difference | undefined> {
    return (await this.#live(kind, { body, edits }, (_, round) => updates[round])).difference;
  }

  /** One object from its creation to its end, or to a panic of the real server, of which the twins keep the request. */
  async #live(
    kind: FuzzedKind,
    start: Pick<Life, "body" | "edits">,
    choose: (object: JsonObject, round: number) => Update | undefined,
  ): Promise<{ difference: Difference | undefined; created: boolean }> {
    const lived = await unlessPanic(this.#compareLives(kind, start, choose));
    return lived ?? { difference: undefined, created: false };
  }

  async #compareLives(
    kind: FuzzedKind,
    { body, edits }: Pick<Life, "body" | "edits">,
    choose: (object: JsonObject, round: number) => Update | undefined,
  ): Promise<{ difference: Difference | undefined; created: boolean }> {
    this.#names += 1;
    const sent = applyEdits(named(kind, body, `f${this.#tag}${this.#names}`), edits);
    settleExpressions(sent, kind.schema);
    let answers = await this.#call("POST", kind.path, [sent, sent]);
    let difference = compare(kind, answers, "create");
    const name = answers.map((answer) => answer.body?.metadata?.name).find((one) => typeof one === "string");
    if (kind.isReview || answers.every(({ status }) => status >= 300)) return { difference, created: false };
    const path = `${kind.path}/${encodeURIComponent(name ?? "")}`;
    try {
      for (let round = 0; !difference; round += 1) {
        const update = choose(forUpdate(kind, answers[0].body), round);
        if (!update) break;
        const bodies = answers.map((answer) => applyEdits(forUpdate(kind, answer.body), update.edits));
        for (const one of bodies) settleExpressions(one, kind.schema);
        const target = update.subresource === "" ? path : `${path}/${update.subresource}`;
        const next = await this.#call("PUT", target, bodies as [JsonObject, JsonObject]);
        difference = compare(kind, next, `update ${round + 1}${update.subresource && ` of the ${update.subresource}`}`);
        if (next.every(({ status }) => status < 300)) answers = next;
      }
    } finally {
      await this.#remove(path, answers);
    }
    return { difference, created: true };
  }

  async #remove(path: string, answers: readonly [Answer, Answer]): Promise<void> {
    const free = () => this.#twins.call("PATCH", path, { metadata: { finalizers: null } }, CONTENT_TYPES.merge);
    if (answers.some(({ body }) => body?.metadata?.finalizers)) await free();
    const deleted = await this.#call("DELETE", `${path}?gracePeriodSeconds=0`, [undefined, undefined]);
    if (deleted.some(({ body }) => body?.metadata?.finalizers || body?.status?.phase === "Terminating")) await free();
  }

  async #call(method: string, path: string, bodies: readonly [unknown, unknown]): Promise<[Answer, Answer]> {
    this.#requests += 1;
    return this.#twins.callEach(method, path, bodies);
  }
}

function seedsOf({ name, apiVersion, kind }: FuzzedKind): JsonObject[] {
  const parts = name.split("/");
  const anyVersion = parts.length === 3 ? `${parts[0]}/${parts[2]}` : (parts[1] ?? "");
  const found = OBJECT_SEEDS[name] ?? OBJECT_SEEDS[anyVersion] ?? [];
  return found.map((seed) => ({ apiVersion, kind, metadata: {}, ...seed }));
}

function hashOf(text: string): number {
  let hash = 7;
  for (const character of text) hash = (Math.imul(hash, 31) + character.charCodeAt(0)) | 0;
  return hash;
}

/** Edits of a body that is to be created: several that should be fine, and perhaps one that should not. */
function createEdits(source: EditSource, body: JsonObject, isValid: boolean): Edit[] {
  const { random } = source;
  const edits: Edit[] = [];
  const add = (valid: boolean) => {
    const edit = randomEdit(source, applyEdits(body, edits), valid);
    if (edit) edits.push(edit);
  };
  for (let left = random.pick([0, 1, 1, 2, 3, 5]); left > 0; left -= 1) add(true);
  if (isValid) return edits;
  if (random.chance(0.03)) {
    edits.push({ path: ["metadata", "name"], value: random.pick(["Bad_Name", "-bad", "n".repeat(260), "a/b", ""]) });
  } else add(false);
  return edits;
}

function randomUpdate(kind: FuzzedKind, source: EditSource, object: JsonObject): Update {
  const { random } = source;
  const subresource = kind.hasStatus && random.chance(0.3) ? "status" : "";
  const within = subresource === "status" && random.chance(0.85) ? ["status"] : undefined;
  const edits: Edit[] = [];
  const start = subresource === "status" && !isObject(object.status) ? { ...object, status: {} } : object;
  if (start !== object) edits.push({ path: ["status"], value: {} });
  for (let left = random.pick([1, 1, 2]); left > 0; left -= 1) {
    const edit = randomEdit(source, applyEdits(start, edits), random.chance(0.6), within);
    if (edit) edits.push(edit);
  }
  if (random.chance(0.05)) edits.push({ path: ["metadata", random.pick(["resourceVersion", "uid", "name"])] });
  return { subresource, edits };
}

/** What a client sends back of an answer. */
function forUpdate(kind: FuzzedKind, object: JsonObject): JsonObject {
  if (!kind.isWrittenByServer) return object;
  const { resourceVersion: _, ...metadata } = object.metadata as JsonObject;
  return { ...object, metadata };
}

function compare(kind: FuzzedKind, answers: readonly [Answer, Answer], at: string): Difference | undefined {
  return differenceOf(answers.map((answer) => withoutAllotted(kind, answer)) as [Answer, Answer], at);
}

/** The answer without what the server allots, or writes by itself. */
export function withoutAllotted({ name, isWrittenByServer }: FuzzedKind, answer: Answer): Answer {
  if (name === "v1/services") {
    const text = JSON.stringify(answer.body)
      .replace(/\b10\.96\.\d+\.\d+\b/g, "<address>")
      .replace(/\b3[0-2]\d{3}\b/g, "0");
    return { ...answer, body: JSON.parse(text) };
  }
  if (!isWrittenByServer || !isObject(answer.body?.metadata)) return answer;
  const body = structuredClone(answer.body);
  const entries: JsonObject[] = body.metadata.managedFields ?? [];
  body.metadata.managedFields = entries.filter(({ manager }) => manager === "binnacle-test");
  if (name.endsWith("apiservices") || name.endsWith("flowschemas")) delete body.status;
  return { ...answer, body };
}

/** Differences with the same one are taken to have the same cause. */
function signature({ at, path, theirs, ours }: Difference): string {
  const text = (value: unknown) =>
    (JSON.stringify(value) ?? "")
      .replace(/f\w*\d+/g, "")
      .replace(/\d+/g, "0")
      .slice(0, 300);
  return [
    at.split(" ")[0],
    path.replace(/\.\d+/g, ".0"),
    path.includes("managedFields") ? "" : text(theirs) + text(ours),
  ].join("\n");
}

/** The results in words. */
export function printResults(seed: number, results: readonly KindResult[]): string {
  const lines = [`seed ${seed}`];
  for (const { name, skipped, objects, created, requests, known, unsteady, findings } of results) {
    const differing = findings.reduce((sum, { count }) => sum + count, 0);
    const tried = `${objects} objects (${created} created), ${requests} requests`;
    lines.push(`${name}: ${skipped ?? `${tried}, ${differing} differences, ${known} known, ${unsteady} unsteady`}`);
    for (const { life, difference, count } of findings) {
      lines.push(`  ${count}× ${difference.at}: ${difference.path}`);
      lines.push(`    theirs ${JSON.stringify(difference.theirs)}`, `    ours   ${JSON.stringify(difference.ours)}`);
      lines.push(`    ${JSON.stringify(life)}`);
    }
  }
  return lines.join("\n");
}

/** The kinds to fuzz: those of the specification, or all whose name contains a text. */
export function chosenKinds(filter: string | undefined): FuzzedKind[] {
  if (filter !== undefined)
    return allKinds().filter(({ name }) => filter.split(",").some((part) => name.includes(part)));
  const wanted = kindsOfSpecification();
  return allKinds().filter(({ name }) => wanted.includes(name));
}

if (import.meta.main) {
  const seed = Number(process.env.FUZZ_SEED ?? Math.floor(Math.random() * 2 ** 31));
  const twins = await Twins.start();
  const results: KindResult[] = [];
  try {
    const fuzzer = new ObjectFuzzer(twins, seed);
    for (const kind of chosenKinds(process.env.FUZZ_KIND)) {
      results.push(await fuzzer.run(kind, Number(process.env.FUZZ_COUNT ?? 500)));
    }
    process.stdout.write(`${[printResults(seed, results), ...printPanics(twins.panics)].join("\n")}\n`);
    process.exitCode = results.some(({ findings }) => findings.length > 0) ? 1 : 0;
  } finally {
    await twins.stop();
  }
}
