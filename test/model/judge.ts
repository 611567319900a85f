import assert from "node:assert/strict";
import { type Change, essence, keyOf, type Ledger, revisionOf } from "./ledger.ts";
import { countsRemaining, type Scope } from "./scope.ts";
import type { Thing, WireEvent } from "./wire.ts";

/** An event with an object. */
export type ObjectEvent = Exclude<WireEvent, { readonly type: "ERROR" }>;

/** A list as a client received it, all pages together. */
export interface ListSeen {
  readonly query: string;
  readonly scope: Scope;
  readonly revision: number;
  readonly items: readonly Thing[];
  /** The number of items after each page, and its remainingItemCount. */
  readonly pages: readonly { readonly count: number; readonly remaining: number | undefined }[];
  /** Whether the last page was received. */
  readonly isWhole: boolean;
  /** The minimum revision it must have. */
  readonly atLeast: number;
  /** The exact revision it must have. */
  readonly exactly?: number;
}

/** A watch as a client received it, until it ended or was cut. */
export interface WatchSeen {
  readonly query: string;
  readonly scope: Scope;
  /** The revision it starts at; undefined until the bookmark after the initial events. */
  from: number | undefined;
  /** The initial state, in list order. */
  readonly initial: Thing[];
  readonly events: ObjectEvent[];
  /** The minimum revision of the initial state. */
  readonly atLeast: number;
}

/** A single read. `thing` is undefined if the object was not found. */
export interface GetSeen {
  readonly key: string;
  readonly thing: Thing | undefined;
  readonly atLeast: number;
}

/** Asserts that a list has exactly the state of its revision, and that the revision is allowed. */
export function judgeList(ledger: Ledger, seen: ListSeen): void {
  const { query, revision, scope } = seen;
  assert.ok(revision >= seen.atLeast, `${query} is of ${revision}, older than ${seen.atLeast}`);
  if (seen.exactly !== undefined) assert.equal(revision, seen.exactly, query);
  const state = ledger.stateAt(revision, scope);
  const expected = seen.isWhole ? state : state.slice(0, seen.items.length);
  assert.deepEqual(seen.items.map(essence), expected.map(essence), `${query} at ${revision}`);
  for (const { count, remaining } of seen.pages) {
    const rest = state.length - count;
    if (countsRemaining(scope))
      assert.equal(remaining, rest > 0 ? rest : undefined, `remaining after ${count}: ${query}`);
    else assert.equal(remaining, undefined, query);
  }
}

/**
 * Asserts that a watch delivered every change of its scope once, in order, as far as it was read, with correct
 * bookmarks.
 */
export function judgeWatch(ledger: Ledger, seen: WatchSeen): void {
  const { query, scope, from } = seen;
  if (from === undefined) {
    assert.deepEqual(seen.events, [], `${query}: changes before the end of the initial state`);
    return;
  }
  assert.ok(from >= seen.atLeast, `${query}: initial state of ${from}, older than ${seen.atLeast}`);
  if (seen.initial.length > 0 || query.includes("sendInitialEvents=true")) {
    const state = ledger.stateAt(from, scope).map(essence);
    assert.deepEqual(seen.initial.map(essence), state, `${query}: initial state at ${from}`);
  }
  const expected = expectedEvents(ledger, from, scope);
  let at = 0;
  for (const event of seen.events) {
    if (event.type !== "BOOKMARK") {
      const wanted = expected[at++];
      assert.deepEqual(print(event), wanted && print(wanted), `${query}: event ${at} after ${from}`);
      continue;
    }
    const bookmark = revisionOf(event.object);
    const [last, next] = [expected[at - 1], expected[at]];
    if (last !== undefined) assert.ok(bookmark >= revisionOf(last.object), `${query}: bookmark ${bookmark} goes back`);
    if (next !== undefined)
      assert.ok(bookmark < revisionOf(next.object), `${query}: bookmark ${bookmark} before an event up to it`);
  }
}

/** The number of events of a watch once everything is delivered. */
export function expectedCount(ledger: Ledger, seen: WatchSeen): number {
  return seen.from === undefined ? 0 : expectedEvents(ledger, seen.from, seen.scope).length;
}

/** Asserts that a read returned the object as of some revision after `atLeast`. */
export function judgeGet(ledger: Ledger, { key, thing, atLeast }: GetSeen): void {
  const only: Scope = { matches: (other) => keyOf(other) === key };
  const [before] = ledger.stateAt(atLeast, only);
  const later = ledger.changesAfter(atLeast).filter((change) => change.key === key);
  const possible = [before, ...later.map((change) => change.thing)].map((one) => one && essence(one));
  assert.ok(
    possible.includes(thing && essence(thing)),
    `${key} read after ${atLeast} shows ${thing && essence(thing)}`,
  );
}

function expectedEvents(ledger: Ledger, from: number, scope: Scope): ObjectEvent[] {
  return ledger.changesAfter(from).flatMap((change) => translate(change, scope) ?? []);
}

function translate({ thing, previous, revision }: Change, scope: Scope): ObjectEvent | undefined {
  const matched = previous !== undefined && scope.matches(previous);
  if (thing !== undefined && scope.matches(thing)) return { type: matched ? "MODIFIED" : "ADDED", object: thing };
  if (!matched) return undefined;
  const metadata = { ...previous.metadata, resourceVersion: String(revision) };
  return { type: "DELETED", object: { ...previous, metadata } };
}

const print = (event: ObjectEvent) => `${event.type} ${essence(event.object)}`;
