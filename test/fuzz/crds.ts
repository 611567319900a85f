import { isObject, type Json, type JsonObject } from "../../src/base/api/object.ts";
import type { Answer } from "../support/client.ts";
import { eventually } from "../support/time.ts";
import { type FuzzedDefinition, GROUP, partOf, randomDefinition } from "./crd-definitions.ts";
import { ValueMaker } from "./crd-values.ts";
import { isUnordered, signature, TABLE, withoutAges, withoutOwn } from "./findings.ts";
import { inLanes } from "./lanes.ts";
import { CONTENT_TYPES } from "./operations.ts";
import { Random } from "./random.ts";
import { type Difference, differenceOf, printPanics, Twins, unlessPanic } from "./twins.ts";

/** Where definitions are. */
export const DEFINITIONS = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions";
const LANES = 6;
const OBJECTS = 4;
const WRITES = 4;
const TOLD_EVERY = 500;

/** A request, as it is shown when its answers differ. */
interface Request {
  readonly method: string;
  readonly path: string;
  readonly type?: string;
  readonly body?: unknown;
}

/** Something that the two servers do not agree about. */
export interface CrdFinding {
  readonly schema: JsonObject;
  readonly request: Request;
  /** What was sent to the same object before. */
  readonly history: readonly Request[];
  readonly difference: Difference;
  count: number;
}

/** What came of a run. */
export interface CrdResult {
  definitions: number;
  accepted: number;
  requests: number;
  readonly findings: CrdFinding[];
}

type Answers = readonly [theirs: Answer, ours: Answer];

/** Sends random definitions, and random objects of them, to both servers. */
export class CrdFuzzer {
  readonly #twins: Twins;
  readonly #seed: number;
  readonly #histories = new Map<string, Request[]>();
  readonly #tell: (line: string) => void;
  readonly result: CrdResult = { definitions: 0, accepted: 0, requests: 0, findings: [] };

  /** `tell` hears how far a long run is, and of differences as they are found. */
  constructor(twins: Twins, seed: number, tell: (line: string) => void = () => {}) {
    this.#twins = twins;
    this.#seed = seed;
    this.#tell = tell;
  }

  /** Definitions are known by their number: a seed and a number make the same again. */
  async run(numbers: Iterable<number>): Promise<CrdResult> {
    await inLanes(LANES, numbers, (number) => unlessPanic(this.#one(number)));
    return this.result;
  }

  async #one(index: number): Promise<void> {
    const random = new Random(Math.imul(this.#seed, 0x9e3779b1) + index * 7919);
    const definition = randomDefinition(random, String(index));
    const { plural, body } = definition;
    this.result.definitions += 1;
    if (this.result.definitions % TOLD_EVERY === 0) this.#tell(`${this.result.definitions} definitions so far`);
    const defined = await this.#send(definition, { method: "POST", path: DEFINITIONS, body }, withoutOwn);
    if (!isOk(defined)) return;
    this.result.accepted += 1;
    const path = `/apis/${GROUP}/v1/namespaces/fuzz/${plural}`;
    await eventually(async () => isOk(await this.#twins.call("GET", path)), { withinMs: 120_000, everyMs: 50 });
    for (let object = 0; object < OBJECTS; object++) await this.#live(definition, random, path, `o${object}`);
    await this.#send(definition, { method: "GET", path, type: TABLE }, withoutAges);
    await this.#twins.call("DELETE", `${DEFINITIONS}/${plural}.${GROUP}`);
    for (const known of this.#histories.keys()) if (known.startsWith(path)) this.#histories.delete(known);
  }

  async #live(definition: FuzzedDefinition, random: Random, path: string, name: string): Promise<void> {
    const values = new ValueMaker(random, 0.03);
    const object = {
      apiVersion: `${GROUP}/v1`,
      kind: definition.kind,
      metadata: { name },
      ...bodyOf(values, definition),
    };
    let answers = await this.#send(definition, {
      method: "POST",
      path: `${path}?${queryOf(random)}`,
      body: object,
    });
    if (answers && !isOk(answers)) {
      const smallest = { ...object, ...minimal(new ValueMaker(random, 0), definition) };
      answers = await this.#send(definition, { method: "POST", path: `${path}?fieldManager=a`, body: smallest });
    }
    if (!isOk(answers)) return;
    for (let write = 0; write < WRITES; write++) {
      const [theirs, ours] = await this.#twins.call("GET", `${path}/${name}`);
      if (theirs.status !== 200 || ours.status !== 200) return;
      const written = await this.#write(definition, random, `${path}/${name}`, [theirs, ours]);
      if (!written) return;
    }
  }

  #write(definition: FuzzedDefinition, random: Random, path: string, current: Answers): Promise<Answers | undefined> {
    const values = new ValueMaker(random, 0.05);
    const { hasStatus, hasScale } = definition;
    const subresource = hasScale && random.chance(0.2) ? "/scale" : hasStatus && random.chance(0.35) ? "/status" : "";
    const query = queryOf(random);
    const place = `${path}${subresource}?${query}`;
    if (subresource === "/scale") {
      if (random.chance(0.3)) return this.#send(definition, { method: "GET", path: `${path}/scale` });
      const body = { spec: { replicas: random.pick([0, 1, 5, -1]) } };
      return this.#send(definition, { method: "PATCH", path: place, type: CONTENT_TYPES.merge, body });
    }
    const changed = bodyOf(values, definition);
    switch (random.below(4)) {
      case 0: {
        const bodies = current.map(({ body }) => ({ ...body, ...changed })) as [JsonObject, JsonObject];
        return this.#sendEach(definition, { method: "PUT", path: place, body: changed }, bodies);
      }
      case 1:
        return this.#send(definition, { method: "PATCH", path: place, type: CONTENT_TYPES.merge, body: changed });
      case 2: {
        const body = jsonPatch(random, values, current[0].body);
        return this.#send(definition, { method: "PATCH", path: place, type: CONTENT_TYPES.json, body });
      }
      default: {
        const identity = { apiVersion: `${GROUP}/v1`, kind: definition.kind };
        const force = random.chance(0.6) ? "&force=true" : "";
        const body = { ...identity, ...changed };
        return this.#send(definition, { method: "PATCH", path: place + force, type: CONTENT_TYPES.apply, body });
      }
    }
  }

  /** Requests about the objects of the kind that a path names. */
  #historyOf(path: string): Request[] {
    const [, kind = path] = /^([^?]*\/fuzz\d+s\/?[a-z0-9]*)/.exec(path) ?? [];
    const known = this.#histories.get(kind) ?? [];
    this.#histories.set(kind, known);
    return known;
  }

  #send(
    definition: FuzzedDefinition,
    request: Request,
    view?: (answer: Answer) => Answer,
  ): Promise<Answers | undefined> {
    return this.#sendEach(definition, request, [request.body, request.body], view);
  }

  /** Compares the answers to a request; undefined when they differ. */
  async #sendEach(
    { schema }: FuzzedDefinition,
    request: Request,
    bodies: readonly [unknown, unknown],
    view: (answer: Answer) => Answer = (answer) => answer,
  ): Promise<Answers | undefined> {
    const { method, path, type } = request;
    this.result.requests += 1;
    const answers =
      type === TABLE ? await this.#twins.read(path, TABLE) : await this.#twins.callEach(method, path, bodies, type);
    const difference = differenceOf([view(answers[0]), view(answers[1])], method);
    if (!difference) {
      if (path !== DEFINITIONS) this.#historyOf(path).push(request);
      return answers;
    }
    if (isUnordered(difference)) return undefined;
    const same = this.result.findings.find((finding) => signature(finding.difference) === signature(difference));
    if (same) same.count += 1;
    else {
      const finding = { schema, request, history: [...this.#historyOf(path)], difference, count: 1 };
      this.result.findings.push(finding);
      this.#tell(printFinding(finding).join("\n"));
    }
    return undefined;
  }
}

const isOk = (answers: Answers | undefined): boolean => answers?.every(({ status }) => status < 300) ?? false;

function bodyOf(values: ValueMaker, { schema }: FuzzedDefinition): JsonObject {
  const value = values.of(schema);
  if (!isObject(value)) return { spec: value };
  const { metadata: _, apiVersion: _version, kind: _kind, ...body } = value;
  return body;
}

function minimal(values: ValueMaker, { schema }: FuzzedDefinition): JsonObject {
  return { spec: values.of(partOf(schema, "spec")), status: {} };
}

function queryOf(random: Random): string {
  const validation = random.chance(0.4) ? `&fieldValidation=${random.pick(["Strict", "Warn", "Ignore"])}` : "";
  return `fieldManager=${random.pick(["alpha", "beta", "gamma"])}${validation}`;
}

function jsonPatch(random: Random, values: ValueMaker, current: JsonObject): Json {
  const spec = isObject(current.spec) ? Object.keys(current.spec) : [];
  const name = random
    .pick([...spec, "a", "b", "zz"])
    .replaceAll("~", "~0")
    .replaceAll("/", "~1");
  const path = random.pick([
    `/spec/${name}`,
    `/spec/${name}`,
    "/spec",
    "/status",
    "/metadata/labels",
    `/spec/${name}/0`,
  ]);
  const op = random.pick(["add", "add", "replace", "remove"]);
  return [op === "remove" ? { op, path } : { op, path, value: values.any(2) }];
}

/** The result in words. */
export function printCrdResult(seed: number, { definitions, accepted, requests, findings }: CrdResult): string {
  const differing = findings.reduce((sum, { count }) => sum + count, 0);
  const lines = [
    `seed ${seed}: ${definitions} definitions (${accepted} accepted), ${requests} requests, ${differing} differences`,
  ];
  return [...lines, ...findings.flatMap(printFinding)].join("\n");
}

function printFinding({ schema, request, history, difference, count }: CrdFinding): string[] {
  return [
    `  ${count}× ${request.method} ${request.path} ${request.type ?? ""}: ${difference.path}`,
    `    theirs ${JSON.stringify(difference.theirs)}`,
    `    ours   ${JSON.stringify(difference.ours)}`,
    `    ${JSON.stringify(request.body)}`,
    `    ${JSON.stringify(schema)}`,
    ...history.map(({ method, path, body }) => `    ${method} ${path} ${JSON.stringify(body)}`),
  ];
}

if (import.meta.main) {
  const seed = Number(process.env.FUZZ_SEED ?? Math.floor(Math.random() * 2 ** 31));
  const twins = await Twins.start();
  try {
    const count = Number(process.env.FUZZ_COUNT ?? 1_000);
    const only = process.env.FUZZ_ONLY?.split(",").map(Number);
    const tell = (line: string) => void process.stderr.write(`${line}\n`);
    const result = await new CrdFuzzer(twins, seed, tell).run(
      only ?? Array.from({ length: count }, (_, number) => number),
    );
    process.stdout.write(`${[printCrdResult(seed, result), ...printPanics(twins.panics)].join("\n")}\n`);
    process.exitCode = result.findings.length > 0 ? 1 : 0;
  } finally {
    await twins.stop();
  }
}
