import assert from "node:assert/strict";
import type { Scope } from "./scope.ts";
import type { Thing, WireEvent } from "./wire.ts";

/** One change of the history that all observations must agree with. */
export interface Change {
  readonly revision: number;
  readonly key: string;
  /** Undefined if deleted. */
  readonly thing: Thing | undefined;
  /** Undefined if it did not exist before. Set when the history is complete. */
  previous?: Thing;
}

/** A write as it was sent. The response, if any, determines its outcome. */
export interface Attempt {
  readonly key: string;
  /** The token in the new value; undefined for a delete. */
  readonly token: string | undefined;
  /** The expected resourceVersion; 0 if the object must not exist. */
  readonly expected: number;
  /** The newest version acknowledged to any client before this was sent. */
  readonly after: number;
  readonly sentMs: number;
  outcome: "open" | "done" | "refused";
  /** The resulting version, if the response had it. */
  revision?: number;
}

const STATE_EVERY = 256;

function apply(state: Map<string, Thing>, { key, thing }: Change): void {
  if (thing === undefined) state.delete(key);
  else state.set(key, thing);
}

/** How many changes are not newer than `revision`. */
function indexAfter(changes: readonly Change[], revision: number): number {
  let [low, high] = [0, changes.length];
  while (low < high) {
    const middle = (low + high) >>> 1;
    if ((changes[middle]?.revision ?? 0) <= revision) low = middle + 1;
    else high = middle;
  }
  return low;
}

/** The key of an object. */
export const keyOf = ({ metadata }: Pick<Thing, "metadata">) => `${metadata.namespace}/${metadata.name}`;

/** The version of an object. */
export const revisionOf = ({ metadata }: Pick<Thing, "metadata">) => Number(metadata.resourceVersion);

/** The canonical form of an object, without fields that only some responses have. */
export function essence(thing: Thing): string {
  const sorted = (value: unknown): unknown => {
    if (Array.isArray(value)) return value.map(sorted);
    if (typeof value !== "object" || value === null) return value;
    return Object.fromEntries(
      Object.entries(value)
        .sort(([a], [b]) => (a < b ? -1 : 1))
        .map(([name, member]) => [name, sorted(member)]),
    );
  };
  const { metadata, data } = thing;
  return JSON.stringify(sorted({ metadata, data }));
}

/**
 * The one true history, built from the responses to writers and an unbroken watch of everything. Both must agree on
 * each change.
 */
export class Ledger {
  readonly #base: ReadonlyMap<string, Thing>;
  readonly #changes = new Map<number, Change>();
  readonly #attempts: Attempt[] = [];
  /** Since when a version may exist: since its write was sent, or else since a client learned of it. */
  readonly #times: { readonly atMs: number; readonly revision: number }[] = [];
  /** The newest version of each object that the reference watch has seen. */
  readonly #versions: Map<string, number>;
  readonly #start: number;
  #acknowledged: number;
  /** The whole history in order, and the state before every 256th change. */
  #sealed: { readonly changes: readonly Change[]; readonly states: readonly ReadonlyMap<string, Thing>[] } | undefined;

  constructor(items: readonly Thing[], revision: number) {
    this.#base = new Map(items.map((thing) => [keyOf(thing), thing]));
    this.#versions = new Map(items.map((thing) => [keyOf(thing), revisionOf(thing)]));
    this.#start = revision;
    this.#acknowledged = revision;
  }

  /** The revision at which the history starts. */
  get start(): number {
    return this.#start;
  }

  /** The newest version known to any client. A consistent read that starts now must not be older. */
  get acknowledged(): number {
    return this.#acknowledged;
  }

  /** The version of the newest known change. */
  get newest(): number {
    return Math.max(this.#start, ...this.#changes.keys());
  }

  /** How many changes are known. */
  get length(): number {
    return this.#changes.size;
  }

  /** Call before a write is sent. */
  attempt(key: string, token: string | undefined, expected: number): Attempt {
    const attempt: Attempt = { key, token, expected, after: this.#acknowledged, sentMs: Date.now(), outcome: "open" };
    this.#attempts.push(attempt);
    return attempt;
  }

  /** Records that a write was acknowledged, with the object if the response had it. */
  confirm(attempt: Attempt, thing?: Thing): void {
    attempt.outcome = "done";
    if (thing === undefined) return;
    const revision = revisionOf(thing);
    assert.ok(revision > attempt.after, `a write got ${revision} although ${attempt.after} had been acknowledged`);
    attempt.revision = revision;
    this.#note({ revision, key: attempt.key, thing });
    this.acknowledge(revision, attempt.sentMs);
  }

  /** Records a version that a client has received as current. It may exist since `sinceMs`. */
  acknowledge(revision: number, sinceMs = Date.now()): void {
    this.#acknowledged = Math.max(this.#acknowledged, revision);
    this.#times.push({ atMs: sinceMs, revision });
  }

  /** The newest version that may have existed this long ago. */
  newestBefore(ms: number): number {
    const limit = Date.now() - ms;
    return this.#times.reduce(
      (most, { atMs, revision }) => (atMs <= limit ? Math.max(most, revision) : most),
      this.#start,
    );
  }

  /** Records an event of the reference watch. */
  observe(event: WireEvent): void {
    if (event.type === "ERROR") return;
    const revision = revisionOf(event.object);
    if (event.type === "BOOKMARK") {
      this.acknowledge(revision);
      return;
    }
    const thing = event.type === "DELETED" ? undefined : event.object;
    const key = keyOf(event.object);
    const token = thing && tokenOf(thing);
    // The first attempt with the token, or the first deletion since the object was last written
    const expected = this.#versions.get(key) ?? 0;
    const attempt = this.#attempts.find((one) =>
      token === undefined
        ? one.key === key && one.token === undefined && one.expected === expected
        : one.token === token,
    );
    this.#versions.set(key, revision);
    this.#note({ revision, key, thing });
    this.acknowledge(revision, attempt?.sentMs);
  }

  /** Completes the history and checks it against the attempted writes. Nothing can be added afterwards. */
  seal(isOurs: (key: string) => boolean): void {
    const changes = [...this.#changes.values()].sort((a, b) => a.revision - b.revision);
    const state = new Map(this.#base);
    const states: ReadonlyMap<string, Thing>[] = [];
    for (const [index, change] of changes.entries()) {
      if (index % STATE_EVERY === 0) states.push(new Map(state));
      const previous = state.get(change.key);
      if (previous !== undefined) change.previous = previous;
      if (change.thing === undefined)
        assert.ok(previous, `${change.key} was deleted at ${change.revision} without having existed`);
      apply(state, change);
    }
    this.#sealed = { changes, states };
    this.#checkAttempts(changes.filter(({ key }) => isOurs(key)));
  }

  /** The changes after `revision`. Only valid once the history is complete. */
  changesAfter(revision: number): readonly Change[] {
    const { changes } = this.#history();
    return changes.slice(indexAfter(changes, revision));
  }

  /** The objects of a scope at a revision, in list order. Only valid once the history is complete. */
  stateAt(revision: number, scope: Scope): Thing[] {
    const { changes, states } = this.#history();
    const end = indexAfter(changes, revision);
    const index = Math.min(Math.floor(end / STATE_EVERY), states.length - 1);
    const state = new Map(states[index] ?? this.#base);
    for (const change of changes.slice(Math.max(0, index) * STATE_EVERY, end)) apply(state, change);
    return [...state]
      .filter(([, thing]) => scope.matches(thing))
      .sort(([a], [b]) => Buffer.compare(Buffer.from(a), Buffer.from(b)))
      .map(([, thing]) => thing);
  }

  #history() {
    assert.ok(this.#sealed, "the history is not complete");
    return this.#sealed;
  }

  #note(change: Change): void {
    const known = this.#changes.get(change.revision);
    if (known === undefined) {
      assert.ok(this.#sealed === undefined, `revision ${change.revision} came after the end of history`);
      this.#changes.set(change.revision, change);
      return;
    }
    assert.equal(known.key, change.key, `two objects have version ${change.revision}`);
    assert.equal(known.thing && essence(known.thing), change.thing && essence(change.thing));
  }

  /** Checks that every acknowledged write happened, no rejected one did, and every change was requested. */
  #checkAttempts(changes: readonly Change[]): void {
    const byToken = new Map(changes.flatMap((change) => (change.thing ? [[tokenOf(change.thing), change]] : [])));
    const deletions = new Map(
      changes.flatMap((change) => (change.thing || !change.previous ? [] : [[revisionOf(change.previous), change]])),
    );
    const explained = new Set<Change>();
    const claimed = new Set<Change>();
    for (const attempt of this.#attempts) {
      const what = `${attempt.key} ${attempt.token ?? "delete"} after ${attempt.expected}`;
      const change = attempt.token === undefined ? deletions.get(attempt.expected) : byToken.get(attempt.token);
      if (attempt.outcome === "done") assert.ok(change, `an acknowledged write is missing: ${what}`);
      if (change === undefined) continue;
      if (attempt.outcome === "done") {
        assert.ok(!claimed.has(change), `two writes were acknowledged with this change: ${what}`);
        claimed.add(change);
      }
      if (attempt.token !== undefined)
        assert.notEqual(attempt.outcome, "refused", `a rejected write happened: ${what}`);
      assert.equal(change.previous ? revisionOf(change.previous) : 0, attempt.expected, `another write lost: ${what}`);
      explained.add(change);
    }
    for (const change of changes)
      assert.ok(explained.has(change), `no write explains ${change.key} at ${change.revision}`);
  }
}

/** Identifies the writes of these tests. */
export const tokenOf = (thing: Thing) => thing.data?.token;
