import { isDeepStrictEqual } from "node:util";
import { isObject, type Json, type JsonObject } from "../../src/base/api/object.ts";
import { type RunningBinnacle, startBinnacle } from "../support/binnacle.ts";
import { type Answer, type Client, clientFor } from "../support/client.ts";
import { type Oracle, startOracle, tokens } from "../support/oracle.ts";
import { eventually } from "../support/time.ts";
import { CONTENT_TYPES, type Operation } from "./operations.ts";
import { STARTS } from "./starts.ts";

/** Binnacle serves the kinds behind these gates, besides those that are on wherever the real server runs in tests. */
const GATES = ["--feature-gates=CompositePodGroup=true"];

/** A request at which the handler of the real server panicked: it closes the connection instead of answering. */
export interface Panic {
  readonly method: string;
  readonly path: string;
  readonly body: unknown;
}

/** Thrown where the answers to such a request would have been compared. */
class PanicError extends Error {
  constructor({ method, path }: Panic) {
    super(`the real server panicked at ${method} ${path}`);
  }
}

/** What comes of the work; undefined when the real server panicked at one of its requests. */
export async function unlessPanic<T>(work: Promise<T>): Promise<T | undefined> {
  try {
    return await work;
  } catch (error) {
    if (error instanceof PanicError) return undefined;
    throw error;
  }
}

/** The real kube-apiserver and Binnacle, which are told the same things. */
export class Twins {
  readonly #oracle: Oracle;
  readonly #binnacle: RunningBinnacle;
  readonly #clients: readonly [theirs: Client, ours: Client];
  /** All requests so far that the real server did not survive. */
  readonly panics: Panic[] = [];

  constructor(oracle: Oracle, binnacle: RunningBinnacle) {
    this.#oracle = oracle;
    this.#binnacle = binnacle;
    this.#clients = [clientFor(oracle.base, tokens.admin), clientFor(binnacle.base, tokens.admin)];
  }

  /** Starts both, with further flags for each. */
  static async start(flags: readonly string[] = []): Promise<Twins> {
    const [oracle, binnacle] = await Promise.all([
      startOracle({ flags: [...GATES, ...flags] }),
      startBinnacle({ flags: [...flags, "--custom-objects=defined"] }),
    ]);
    const twins = new Twins(oracle, binnacle);
    await twins.call("POST", "/api/v1/namespaces", { metadata: { name: "fuzz" } });
    await twins.call("POST", "/api/v1/namespaces/fuzz/serviceaccounts", { metadata: { name: "default" } });
    return twins;
  }

  async stop(): Promise<void> {
    await Promise.all([this.#oracle.kill(), this.#binnacle.kill()]);
  }

  /** The same request to both. */
  async call(method: string, path: string, body?: unknown, type?: string): Promise<[theirs: Answer, ours: Answer]> {
    return this.callEach(method, path, [body, body], type);
  }

  /** What both show of the same thing in a form. */
  async read(path: string, accept: string): Promise<[theirs: Answer, ours: Answer]> {
    const [theirs, ours] = this.#clients;
    const read = (client: Client) => persistently(() => client.call("GET", path, undefined, { accept }));
    return Promise.all([read(theirs), read(ours)]);
  }

  /** A request to both, with a body for each. Throws a PanicError when the real server panics at it. */
  async callEach(
    method: string,
    path: string,
    bodies: readonly [theirs: unknown, ours: unknown],
    type?: string,
  ): Promise<[theirs: Answer, ours: Answer]> {
    const headers: Record<string, string> = type === undefined ? {} : { "content-type": type };
    const [theirs, ours] = this.#clients;
    const [their, our] = await Promise.all([
      persistently(() => theirs.call(method, path, bodies[0], headers)).catch((error: unknown) => {
        if (isReset(error) && this.#oracle.output().includes("panic")) return undefined;
        throw error;
      }),
      persistently(() => ours.call(method, path, bodies[1], headers)),
    ]);
    if (their !== undefined) return [their, our];
    const panic = { method, path, body: bodies[0] };
    this.panics.push(panic);
    throw new PanicError(panic);
  }

  /**
   * Runs a history on a fresh object of a kind. Answers where the two first differ; undefined if nowhere, or at a panic.
   * `isPatient` waits after each operation until the real server's watch cache has seen it: GuaranteedUpdate tries the
   * cached object first, and the warnings of such an attempt stay when an older one has to be given up.
   */
  replay(kind: string, history: readonly Operation[], isPatient = false): Promise<Difference | undefined> {
    return unlessPanic(this.#replay(kind, history, isPatient));
  }

  async #replay(kind: string, history: readonly Operation[], isPatient: boolean): Promise<Difference | undefined> {
    const start = STARTS[kind];
    if (!start) throw new Error(`no starting object for ${kind}`);
    const { metadata, ...rest } = start.body;
    const body = { ...rest, metadata: { ...(metadata as JsonObject), name: "fuzzed" } };
    await this.#remove(start.path);
    let difference = differenceOf(await this.call("POST", `${start.path}?fieldManager=creator`, body), "create");
    for (const [index, operation] of history.entries()) {
      if (difference) break;
      if (isPatient) await this.#settle(`${start.path}/fuzzed`);
      difference = differenceOf(await this.apply(start.path, operation), `operation ${index + 1}`);
    }
    await this.#remove(start.path);
    return difference;
  }

  /** One operation on the object of a history. */
  apply(path: string, { type, body, manager, force, fieldValidation }: Operation) {
    const query = new URLSearchParams({ fieldManager: manager });
    if (force) query.set("force", "true");
    if (fieldValidation) query.set("fieldValidation", fieldValidation);
    return this.call("PATCH", `${path}/fuzzed?${query}`, body, CONTENT_TYPES[type]);
  }

  async #settle(object: string): Promise<void> {
    const [theirs] = this.#clients;
    const versionOf = async (query: string) => (await theirs.call("GET", object + query)).body.metadata.resourceVersion;
    const newest = await versionOf("");
    await eventually(async () => (await versionOf("?resourceVersion=0")) === newest);
  }

  async #remove(path: string): Promise<void> {
    const object = `${path}/fuzzed`;
    await this.call("PATCH", object, { metadata: { finalizers: null } }, CONTENT_TYPES.merge);
    await this.call("DELETE", `${object}?gracePeriodSeconds=0`);
    await this.call("PATCH", object, { metadata: { finalizers: null } }, CONTENT_TYPES.merge);
  }
}

const MOST_TRIES = 20;

/** A server may close connections that were idle just when they are used again. */
async function persistently<T>(call: () => Promise<T>): Promise<T> {
  for (let tries = 1; ; tries += 1) {
    try {
      return await call();
    } catch (error) {
      if (!isReset(error) || tries === MOST_TRIES) throw error;
    }
  }
}

const isReset = (error: unknown) => (error as NodeJS.ErrnoException).code === "ECONNRESET";

/** The panics in words, with what caused each; none gives no lines. */
export function printPanics(panics: readonly Panic[]): string[] {
  if (panics.length === 0) return [];
  const requests = panics.map(({ method, path, body }) => `  ${method} ${path}\n    ${JSON.stringify(body)}`);
  return [`panics of the real server, at which there is nothing to compare: ${panics.length}`, ...requests];
}

/** Where two answers differ. */
export interface Difference {
  readonly at: string;
  readonly path: string;
  readonly theirs: unknown;
  readonly ours: unknown;
}

/** The first difference between two answers, once what each server makes up is set aside. */
export function differenceOf(answers: readonly [Answer, Answer], where: string): Difference | undefined {
  const [theirs, ours] = answers.map(masked) as [Answer, Answer];
  if (theirs.status !== ours.status) {
    const show = ({ status, body }: Answer) => `${status} ${body.message ?? ""}`;
    return { at: where, path: "status", theirs: show(theirs), ours: show(ours) };
  }
  const warnings = (answer: Answer) => [answer.headers.warning ?? []].flat().join("\n");
  if (warnings(theirs) !== warnings(ours)) {
    return { at: where, path: "warnings", theirs: warnings(theirs), ours: warnings(ours) };
  }
  const found = firstDifference(normalise(theirs.body), normalise(ours.body), "");
  return found && { at: where, ...found };
}

const MADE_UP_TEXTS = [
  /\b[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}\b/g,
  /(?<=kube-api-access-)[a-z0-9]{5}/g,
  // The name of a runtime.Scheme is the line that made it, which depends on what the compiler inlined.
  /(?<=in scheme \\")pkg[^"\\]+/g,
];

/** The answer without ids and times of its own in any text. */
function masked({ status, headers, body }: Answer): Answer {
  const day = new Date().toISOString().slice(0, 10);
  let text = JSON.stringify(body).replace(new RegExp(`${day}T[0-9:.]+Z`, "g"), "<now>");
  for (const pattern of MADE_UP_TEXTS) text = text.replace(pattern, "<made up>");
  return { status, headers, body: JSON.parse(text) };
}

const MADE_UP = ["uid", "resourceVersion", "creationTimestamp", "deletionTimestamp"];

function normalise(body: JsonObject): JsonObject {
  const copy = structuredClone(body);
  const { metadata } = copy;
  if (!isObject(metadata)) return withoutDumps(copy);
  for (const member of MADE_UP) delete metadata[member];
  if (Array.isArray(metadata.managedFields)) {
    const entries = metadata.managedFields.map((entry) => {
      const { time: _, ...rest } = entry as JsonObject;
      return rest;
    });
    // Custom objects have their members in another order.
    const text = (entry: JsonObject) => JSON.stringify(Object.entries(entry).sort());
    metadata.managedFields = entries.sort((a, b) => (text(a) < text(b) ? -1 : 1));
  }
  return withoutDumps(copy);
}

const DUMP = /patch: Invalid value: "(?:[^"\\]|\\.)*"/s;

/** A refusal may show the object, or how it changed, in the words of one implementation; what is wrong with it stays. */
function withoutDumps(body: JsonObject): JsonObject {
  if (body.kind !== "Status" || typeof body.message !== "string") return body;
  const { message, details, ...rest } = body;
  const causes = isObject(details) && Array.isArray(details.causes) ? details.causes.map(printCause).sort() : undefined;
  return { ...rest, message: summary(undump(message), causes), causes };
}

const undump = (text: string): string => (text.split("\n@@")[0] ?? "").replace(DUMP, "patch: Invalid value: <object>");

function printCause(cause: Json): string {
  const { field, message, reason } = cause as JsonObject;
  return `${reason} ${field} ${undump(`${field}: ${message}`)}`;
}

// Several causes stand in the message in an order of their own; they are compared by themselves.
function summary(message: string, causes: readonly string[] | undefined): string {
  return causes !== undefined && causes.length > 1 ? message.slice(0, message.indexOf(": [")) : message;
}

/** The first place at which two values differ. */
export function firstDifference(theirs: unknown, ours: unknown, path: string): Omit<Difference, "at"> | undefined {
  if (isDeepStrictEqual(theirs, ours)) return undefined;
  const bothObjects = isObject(theirs) && isObject(ours);
  const bothLists = Array.isArray(theirs) && Array.isArray(ours) && theirs.length === ours.length;
  if (!bothObjects && !bothLists) return { path, theirs, ours };
  const [left, right] = [theirs as JsonObject, ours as JsonObject];
  for (const key of new Set([...Object.keys(left), ...Object.keys(right)])) {
    const found = firstDifference(left[key], right[key], `${path}.${key}`);
    if (found) return found;
  }
  return undefined;
}
