import { isDeepStrictEqual } from "node:util";
import { isObject, type JsonObject } from "../../src/base/api/object.ts";
import { KubectlTwins } from "../clients/kubectl-twins.ts";
import { ValueMaker } from "../fuzz/crd-values.ts";
import { isUnordered, signature, TABLE, withoutAges } from "../fuzz/findings.ts";
import { inLanes } from "../fuzz/lanes.ts";
import { CONTENT_TYPES } from "../fuzz/operations.ts";
import { Random } from "../fuzz/random.ts";
import { type Difference, differenceOf, firstDifference, Twins } from "../fuzz/twins.ts";
import { startBinnacle } from "../support/binnacle.ts";
import type { Answer } from "../support/client.ts";
import { startOracle } from "../support/oracle.ts";
import { eventually } from "../support/time.ts";
import { comparable, partAbout } from "./documents.ts";
import { cleanSample, type InstalledKind, kindsOf, randomChange } from "./samples.ts";

/** Something about which the servers do not agree. */
export interface Finding {
  readonly request: string;
  readonly body: unknown;
  readonly difference: Difference;
  count: number;
}

/** What was compared. */
export interface Compared {
  definitions: number;
  documents: number;
  samples: number;
  accepted: number;
  requests: number;
  readonly findings: Finding[];
}

type Answers = readonly [theirs: Answer, ours: Answer];

const NAMESPACE = "fuzz";
/** Changes made to each sample, and objects made up for each version of a kind. */
const CHANGES = 4;
const LANES = 4;

/** Installs definitions on both servers and compares what they answer about them. */
export class RealDefinitions {
  readonly #twins: Twins;
  readonly #kubectl: KubectlTwins;
  readonly #seed: number;
  readonly #kinds: InstalledKind[] = [];
  readonly compared: Compared = { definitions: 0, documents: 0, samples: 0, accepted: 0, requests: 0, findings: [] };

  constructor(twins: Twins, kubectl: KubectlTwins, seed: number) {
    this.#twins = twins;
    this.#kubectl = kubectl;
    this.#seed = seed;
  }

  /** Starts both servers. */
  static async start(seed: number): Promise<RealDefinitions> {
    const binnacle = await startBinnacle({ flags: ["--custom-objects=defined"] });
    const oracle = await startOracle();
    const twins = new Twins(oracle, binnacle);
    await twins.call("POST", "/api/v1/namespaces", { metadata: { name: NAMESPACE } });
    return new RealDefinitions(twins, await KubectlTwins.of(oracle, binnacle), seed);
  }

  stop(): Promise<void> {
    return this.#twins.stop();
  }

  /** Applies the definitions below a folder; both servers must say the same about it. */
  async install(folder: string, definitions: readonly JsonObject[]): Promise<void> {
    await this.#kubectl.same(["apply", "--server-side", "-f", folder]);
    for (const definition of definitions) {
      this.compared.definitions += 1;
      const { name } = definition.metadata as { name: string };
      const path = `/apis/apiextensions.k8s.io/v1/customresourcedefinitions/${name}`;
      await eventually(async () => (await this.#twins.call("GET", path)).every(isEstablished), { withinMs: 30_000 });
      const answers = await this.#twins.call("GET", path);
      this.#compare(`GET ${path}`, undefined, answers.map(withoutTimes) as [Answer, Answer]);
      this.#kinds.push(...kindsOf(definition));
    }
  }

  /** Compares what is published about the kinds: discovery, and OpenAPI in both versions. */
  async documents(): Promise<void> {
    const groups = new Set(this.#kinds.map(({ group }) => group));
    const versions = new Set(this.#kinds.map(({ group, version }) => `${group}/${version}`));
    const paths = [...groups].map((group) => `/apis/${group}`);
    for (const version of versions) paths.push(`/apis/${version}`, `/openapi/v3/apis/${version}`);
    await this.#document("/openapi/v2", (body) => partAbout(groups, body));
    for (const path of paths) await this.#document(path, (body) => body);
  }

  async #document(path: string, part: (body: JsonObject) => JsonObject): Promise<void> {
    this.compared.documents += 1;
    let answers: Answers = await this.#twins.call("GET", path);
    const bodies = () => answers.map(({ status, body }) => (status === 200 ? comparable(part(body)) : status));
    const isSame = () => isDeepStrictEqual(...(bodies() as [unknown, unknown]));
    // The real server publishes in its own time.
    await eventually(
      async () => {
        if (!isSame()) answers = await this.#twins.call("GET", path);
        return isSame();
      },
      { withinMs: 20_000, everyMs: 500 },
    ).catch(() => undefined);
    const [theirs, ours] = bodies();
    const found = firstDifference(theirs, ours, "");
    if (found) this.#found(`GET ${path}`, undefined, { at: "document", ...found });
  }

  /** Sends those objects that are of an installed kind, changed ones, and some that are made up from its schema. */
  async objects(samples: readonly JsonObject[]): Promise<void> {
    // Versions of a kind show the same objects: they take turns.
    const kinds = [...Map.groupBy(this.#kinds, ({ group, plural }) => `${plural}.${group}`).values()];
    await inLanes(LANES, kinds, async (versions) => {
      for (const kind of versions) await this.#objectsOf(kind, samples);
    });
  }

  async #objectsOf(kind: InstalledKind, samples: readonly JsonObject[]): Promise<void> {
    const apiVersion = `${kind.group}/${kind.version}`;
    const own = samples.filter((sample) => sample.apiVersion === apiVersion && sample.kind === kind.kind);
    const random = new Random(Math.imul(this.#seed, 0x9e3779b1) + this.#kinds.indexOf(kind) * 7919);
    const values = new ValueMaker(random, 0.005);
    const made = Array.from({ length: CHANGES }, (_, number) => ({
      ...(values.of(kind.schema) as JsonObject),
      ...{ apiVersion, kind: kind.kind, metadata: { name: `made-${number}` } },
    }));
    const all = [...own.map(cleanSample), ...made];
    for (const [number, sample] of all.entries()) await this.#live(kind, random, sample, number);
  }

  async #live(kind: InstalledKind, random: Random, sample: JsonObject, number: number): Promise<void> {
    this.compared.samples += 1;
    const { group, version, plural, isNamespaced, hasStatus } = kind;
    const path = `/apis/${group}/${version}${isNamespaced ? `/namespaces/${NAMESPACE}` : ""}/${plural}`;
    const { name: given } = sample.metadata as JsonObject;
    const name = `${typeof given === "string" ? given : "sample"}-${number}`;
    const object = { ...sample, metadata: { ...(sample.metadata as JsonObject), name } };
    const item = `${path}/${name}`;
    const strict = `${path}?fieldManager=creator&fieldValidation=Strict`;
    let answers = await this.#send("POST", strict, object);
    if (!isOk(answers)) answers = await this.#send("POST", `${path}?fieldManager=creator`, object);
    for (let change = 0; change < CHANGES; change++) {
      const { changed } = randomChange(random, object);
      await this.#send("POST", `${path}?fieldManager=creator&dryRun=All&fieldValidation=Strict`, {
        ...changed,
        metadata: { ...(changed.metadata as JsonObject), name: `${name}-changed` },
      });
      if (isOk(answers)) await this.#change(random, item, object, hasStatus);
      else await this.#send("PATCH", `${item}?fieldManager=applier&force=true`, changed, CONTENT_TYPES.apply);
    }
    if (isOk(answers)) this.compared.accepted += 1;
    const table = await this.#twins.read(path, TABLE);
    this.compared.requests += 1;
    this.#compare(`table ${path}`, undefined, [withoutAges(table[0]), withoutAges(table[1])]);
    await this.#twins.call("PATCH", item, { metadata: { finalizers: null } }, CONTENT_TYPES.merge);
    await this.#twins.call("DELETE", item);
  }

  async #change(random: Random, item: string, sample: JsonObject, hasStatus: boolean): Promise<void> {
    const { edit, changed } = randomChange(random, sample);
    const place = hasStatus && edit.path[0] === "status" ? `${item}/status` : item;
    const pointer = edit.path.map((step) => `/${String(step).replaceAll("~", "~0").replaceAll("/", "~1")}`).join("");
    const { metadata: _, ...rest } = changed;
    switch (random.below(4)) {
      case 0:
        await this.#send("PATCH", `${place}?fieldManager=applier&force=true`, changed, CONTENT_TYPES.apply);
        break;
      case 1:
        await this.#send("PATCH", `${place}?fieldManager=applier&fieldValidation=Strict`, rest, CONTENT_TYPES.apply);
        break;
      case 2:
        await this.#send("PATCH", `${place}?fieldManager=merger`, rest, CONTENT_TYPES.merge);
        break;
      default: {
        const operation = edit.value === undefined ? { op: "remove" } : { op: "add", value: edit.value };
        const body = [{ ...operation, path: pointer }];
        await this.#send("PATCH", `${place}?fieldManager=patcher`, body, CONTENT_TYPES.json);
      }
    }
  }

  async #send(method: string, path: string, body: unknown, type?: string): Promise<Answers> {
    this.compared.requests += 1;
    const answers = await this.#twins.call(method, path, body, type);
    this.#compare(`${method} ${path} ${type ?? ""}`, body, answers);
    return answers;
  }

  #compare(request: string, body: unknown, answers: Answers): void {
    const difference = differenceOf(answers, request.split(" ")[0] ?? "");
    if (difference && !isUnordered(difference)) this.#found(request, body, difference);
  }

  #found(request: string, body: unknown, difference: Difference): void {
    const { findings } = this.compared;
    const same = findings.find((finding) => signature(finding.difference) === signature(difference));
    if (same) same.count += 1;
    else findings.push({ request, body, difference, count: 1 });
  }
}

const isOk = (answers: Answers): boolean => answers.every(({ status }) => status < 300);

function isEstablished({ body }: Answer): boolean {
  const conditions: unknown[] = body.status?.conditions ?? [];
  return conditions.some((one) => isObject(one) && one.type === "Established" && one.status === "True");
}

/** A definition without the times of its conditions and owners; controllers add conditions in any order. */
function withoutTimes(answer: Answer): Answer {
  const body = JSON.parse(JSON.stringify(answer.body), (key, value) =>
    key === "lastTransitionTime" || key === "time" ? undefined : value,
  );
  const typeOf = (condition: unknown) => (isObject(condition) ? String(condition.type) : "");
  body.status?.conditions?.sort((a: unknown, b: unknown) => (typeOf(a) < typeOf(b) ? -1 : 1));
  return { ...answer, body };
}

/** What was compared, in words. */
export function printCompared(seed: number, compared: Compared): string {
  const { definitions, documents, samples, accepted, requests, findings } = compared;
  const differing = findings.reduce((sum, { count }) => sum + count, 0);
  const lines = [
    `seed ${seed}: ${definitions} definitions, ${documents} documents, ${samples} objects (${accepted} accepted), ` +
      `${requests} requests, ${differing} differences`,
  ];
  for (const { request, body, difference, count } of findings) {
    lines.push(`  ${count}× ${request}: ${difference.path}`);
    lines.push(`    theirs ${JSON.stringify(difference.theirs)?.slice(0, 2000)}`);
    lines.push(`    ours   ${JSON.stringify(difference.ours)?.slice(0, 2000)}`);
    if (body !== undefined) lines.push(`    ${JSON.stringify(body).slice(0, 4000)}`);
  }
  return lines.join("\n");
}
