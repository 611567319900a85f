import { parseArgs } from "node:util";
import { isObject, type Json, type JsonObject } from "../../src/base/api/object.ts";
import type { Answer } from "../support/client.ts";
import { eventually } from "../support/time.ts";
import { costMeter, FILLER_PROPERTIES, fillersFor } from "./cel/costs.ts";
import { bodyOf, type CelDefinition, GROUP, type PlacedRule, randomDefinition } from "./cel/definitions.ts";
import { inLanes, numbersWhile } from "./lanes.ts";
import { Random } from "./random.ts";
import { printPanics, Twins, unlessPanic } from "./twins.ts";

const DEFINITIONS = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions";
const LANES = 4;
const OBJECTS = 4;
const RULES = 40;
/** The real server goes through maps in any order; an answer that it gives now and then is none that differs. */
const TRIES = 12;

/** Something that the two servers do not agree about. */
export interface CelFinding {
  readonly what: string;
  readonly theirs: string;
  readonly ours: string;
  /** What it takes to repeat it. */
  readonly case: JsonObject;
  count: number;
}

/** What came of a run. */
export interface CelResult {
  expressions: number;
  accepted: number;
  definitions: number;
  requests: number;
  /** Objects whose rules cost the same in sum, to the unit. */
  sums: number;
  /** Answers that the real server gives in several ways. */
  unsteady: number;
  readonly findings: CelFinding[];
}

type Answers = readonly [theirs: Answer, ours: Answer];

/** Sends definitions with random rules, and objects of them, to both servers. */
export class CelFuzzer {
  readonly #twins: Twins;
  readonly #seed: number;
  readonly result: CelResult = {
    expressions: 0,
    accepted: 0,
    definitions: 0,
    requests: 0,
    sums: 0,
    unsteady: 0,
    findings: [],
  };

  constructor(twins: Twins, seed: number) {
    this.#twins = twins;
    this.#seed = seed;
  }

  /** Goes on until so many expressions have been sent. */
  async run(expressions: number): Promise<CelResult> {
    const numbers = numbersWhile(() => this.result.expressions < expressions);
    await inLanes(LANES, numbers, (number) => unlessPanic(this.#one(number)));
    return this.result;
  }

  async #one(index: number): Promise<void> {
    const random = new Random(Math.imul(this.#seed, 0x9e3779b1) + index * 7919);
    const definition = randomDefinition(random, String(index), RULES);
    this.result.definitions += 1;
    for (const { rule } of definition.rules) this.result.expressions += "messageExpression" in rule ? 2 : 1;
    const rules = await this.#define(definition);
    if (rules === undefined) return;
    for (const { rule } of rules) this.result.accepted += "messageExpression" in rule ? 2 : 1;
    const { plural } = definition;
    const collection = (version: string) => `/apis/${GROUP}/${version}/namespaces/fuzz/${plural}`;
    await eventually(async () => (await this.#twins.call("GET", collection("v2"))).every(isOk), {
      withinMs: 60_000,
      everyMs: 25,
    });
    for (let object = 0; object < OBJECTS; object++) await this.#live(definition, rules, random, `o${object}`);
    await this.#twins.call("DELETE", `${DEFINITIONS}/${plural}.${GROUP}`);
  }

  /** Defines the kind with the rules that both servers accept; undefined if there is no kind in the end. */
  async #define(definition: CelDefinition): Promise<readonly PlacedRule[] | undefined> {
    let rules = definition.rules;
    for (let tries = 0; tries < 8; tries++) {
      const answers = await this.#send("POST", DEFINITIONS, bodyOf(definition, rules));
      if (answers.every(isOk)) return rules;
      this.#compare(definition, rules, answers, { answers: "definition" });
      const refused = new Set(answers.flatMap((answer) => causesOf(answer).flatMap(({ field }) => placeIn(field))));
      const numbers = new Map<string, number>();
      const left = rules.filter(({ place: { path } }) => {
        const number = numbers.get(path) ?? 0;
        numbers.set(path, number + 1);
        return !refused.has(`${path} ${number}`);
      });
      // Refused for the sum of all: fewer may do.
      rules = left.length === rules.length ? left.slice(0, Math.floor(left.length / 2)) : left;
      if (answers.some(isOk)) await this.#twins.call("DELETE", `${DEFINITIONS}/${definition.plural}.${GROUP}`);
      if (answers.some(isOk) || rules.length === 0) return undefined;
    }
    return undefined;
  }

  async #live(definition: CelDefinition, rules: readonly PlacedRule[], random: Random, name: string): Promise<void> {
    const { kind, plural, spec, isMeasured } = definition;
    const object = (version: string, value: Json) => ({
      apiVersion: `${GROUP}/${version}`,
      kind,
      metadata: { name },
      spec: value,
    });
    const path = (version: string) => `/apis/${GROUP}/${version}/namespaces/fuzz/${plural}`;
    const first = spec.value(random) as JsonObject;
    await this.#checked(definition, rules, "POST", `${path("v2")}?dryRun=All`, object("v2", first));
    if (isMeasured) {
      const properties = { ...(spec.schema.properties as JsonObject), ...FILLER_PROPERTIES };
      const meter = costMeter(
        { ...spec.schema, properties },
        rules.map(({ rule }) => rule),
      );
      const filled = fillersFor(first, meter) ?? [];
      for (const value of filled) {
        await this.#checked(definition, rules, "POST", `${path("v2")}?dryRun=All`, object("v2", value));
      }
      if (filled.length > 0) this.result.sums += 1;
    }
    const stored = await this.#send("POST", path("v1"), object("v1", first));
    if (!stored.every(isOk)) return;
    for (let write = 0; write < 2; write++) {
      const next = object("v2", spec.value(random));
      await this.#checked(definition, rules, "PUT", `${path("v2")}/${name}?dryRun=All`, next, first);
    }
  }

  async #send(method: string, path: string, body: JsonObject): Promise<Answers> {
    this.result.requests += 1;
    return this.#twins.call(method, path, body);
  }

  /** Compares the answers to a write of an object. */
  async #checked(
    definition: CelDefinition,
    rules: readonly PlacedRule[],
    method: string,
    path: string,
    body: JsonObject,
    old?: Json,
  ): Promise<void> {
    let answers = await this.#send(method, path, body);
    for (let tries = 1; tries < TRIES && this.#differ(answers); tries++) {
      const again = await this.#twins.call(method, path, body);
      if (differencesOf([again[0], answers[0]]).length > 0 && differencesOf([again[0], again[1]]).length === 0) {
        this.result.unsteady += 1;
        return;
      }
      answers = again;
    }
    this.#compare(definition, rules, answers, { method, spec: body.spec ?? null, ...(old !== undefined && { old }) });
  }

  #differ(answers: Answers): boolean {
    return differencesOf(answers).length > 0;
  }

  #compare(definition: CelDefinition, rules: readonly PlacedRule[], answers: Answers, more: JsonObject): void {
    for (const [what, theirs, ours] of differencesOf(answers)) {
      const same = this.result.findings.find((one) => signature(one) === signature({ what, theirs, ours }));
      if (same) same.count += 1;
      else {
        const shown = { schema: definition.spec.schema, ...more };
        const place = placeIn(what)[0];
        const own = rules.filter(({ place: { path }, rule }, index) => {
          const number = rules.slice(0, index).filter((before) => before.place.path === path).length;
          return place === `${path} ${number}` || `${theirs} ${ours}`.includes(String(rule.rule));
        });
        const suspects = (own.length > 0 ? own : rules).map(({ place: { path }, rule }) => ({ path, ...rule }));
        this.result.findings.push({ what, theirs, ours, case: { rules: suspects, ...shown }, count: 1 });
      }
    }
  }
}

const isOk = ({ status }: Answer): boolean => status < 300;

interface Cause {
  readonly field: string;
  readonly message: string;
  readonly reason: string;
}

function causesOf({ body }: Answer): Cause[] {
  const { details } = body;
  const causes = isObject(details) && Array.isArray(details.causes) ? details.causes : [];
  return causes.map((cause) => cause as unknown as Cause);
}

/** The place of a rule that a field of an error names, and its number there. */
function placeIn(field: string): string[] {
  const match = /openAPIV3Schema\.(.*)\.x-kubernetes-validations\[(\d+)\]/.exec(field);
  return match ? [`${match[1]} ${match[2]}`] : [];
}

/** The names of types are numbers of the clock in the real server. */
const masked = (text: string): string => text.replace(/selfType\d+/g, "selfType");

/** What one answer says and the other does not: where, and what each of them says there. */
function differencesOf([theirs, ours]: Answers): [what: string, theirs: string, ours: string][] {
  const print = (answer: Answer) => {
    const texts = new Map<string, string[]>();
    for (const { field: given, reason, message } of causesOf(answer)) {
      // Of rules that may cost the same, those are named that come first as Go goes through the properties.
      const field = message.includes("contributed to estimated rule cost total") ? "the most expensive" : given;
      texts.set(field, [...(texts.get(field) ?? []), masked(`${reason}: ${message}`)]);
    }
    return texts;
  };
  if (theirs.status !== ours.status && [theirs, ours].every((answer) => causesOf(answer).length === 0)) {
    return [["status", `${theirs.status} ${theirs.body.message ?? ""}`, `${ours.status} ${ours.body.message ?? ""}`]];
  }
  const [left, right] = [print(theirs), print(ours)];
  const found: [string, string, string][] = [];
  for (const field of new Set([...left.keys(), ...right.keys()])) {
    const [a, b] = [left.get(field) ?? [], right.get(field) ?? []];
    const [onlyA, onlyB] = [without(a, b), without(b, a)];
    if (onlyA.length + onlyB.length > 0) found.push([field, onlyA.join("\n"), onlyB.join("\n")]);
  }
  if (found.length === 0 && theirs.status !== ours.status) found.push(["status", `${theirs.status}`, `${ours.status}`]);
  return found;
}

function without(texts: readonly string[], others: readonly string[]): string[] {
  const left = [...others];
  return texts.filter((text) => {
    const at = left.indexOf(text);
    if (at >= 0) left.splice(at, 1);
    return at < 0;
  });
}

/** Differences with the same one are taken to have the same cause. */
function signature({ what, theirs, ours }: Pick<CelFinding, "what" | "theirs" | "ours">): string {
  const text = (value: string) =>
    value
      .replace(/^.*?compilation failed: /s, "")
      .replace(/evaluating rule: .*/s, "")
      .replace(/failed rule: .*/s, "failed rule")
      .replace(/\n \|.*/g, "")
      .replace(/\d+/g, "0")
      .replace(/'[^']*'/g, "''")
      .slice(0, 60);
  return [what.includes("validations") ? "rule" : "object", text(theirs), text(ours)].join("\n");
}

/** The result in words. */
export function printCelResult(seed: number, result: CelResult): string {
  const { expressions, accepted, definitions, requests, sums, unsteady, findings } = result;
  const differing = findings.reduce((sum, { count }) => sum + count, 0);
  const lines = [
    `seed ${seed}: ${expressions} expressions (${accepted} accepted) in ${definitions} definitions, ${requests} requests, ` +
      `${sums} sums of costs, ${unsteady} answers that the real server gives in several ways, ${differing} differences`,
  ];
  for (const { what, theirs, ours, count, case: shown } of findings) {
    lines.push(`${count}× ${what}`, `  theirs ${theirs}`, `  ours   ${ours}`, `  ${JSON.stringify(shown)}`, "");
  }
  return lines.join("\n");
}

if (import.meta.main) {
  const { values } = parseArgs({ options: { seed: { type: "string" }, count: { type: "string" } } });
  const seed = Number(values.seed ?? process.env.FUZZ_SEED ?? Math.floor(Math.random() * 2 ** 31));
  const count = Number(values.count ?? process.env.FUZZ_COUNT ?? 50_000);
  const twins = await Twins.start();
  const started = performance.now();
  try {
    const result = await new CelFuzzer(twins, seed).run(count);
    const seconds = ((performance.now() - started) / 1000).toFixed(0);
    process.stdout.write(
      `${[printCelResult(seed, result), ...printPanics(twins.panics), `${seconds} s`].join("\n")}\n`,
    );
    process.exitCode = result.findings.length > 0 ? 1 : 0;
  } finally {
    await twins.stop();
  }
}
