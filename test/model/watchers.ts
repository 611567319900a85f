import assert from "node:assert/strict";
import { setTimeout as sleep } from "node:timers/promises";
import type { World } from "./actors.ts";
import { expectedCount, type ObjectEvent, type WatchSeen } from "./judge.ts";
import { revisionOf } from "./ledger.ts";
import type { Random } from "./random.ts";
import { ALL, pathOf, randomScope } from "./scope.ts";
import type { WatchConnection, Wire, WireEvent } from "./wire.ts";

/** How fast one connection is read, and when the watcher cuts it. */
interface Manner {
  /** Pause after each event. */
  readonly pauseMs: number;
  readonly cutAfterMs: number;
}

/** Watches everything, as far as possible without interruption, for the ledger. Resumes where it was. */
export async function reference(world: World): Promise<void> {
  let from = world.ledger.start;
  while (world.isRunning) {
    const connection = await connect(world, world.wires[0], pathOf(ALL, { watch: 1, resourceVersion: from }));
    if (connection === undefined) continue;
    const stop = setInterval(() => world.isRunning || connection.cut(), 50);
    try {
      for await (const event of connection.events()) {
        if (event.type === "ERROR") {
          assert.ok(world.tolerance.outages && event.object.code !== 410, `the reference: ${JSON.stringify(event)}`);
          break;
        }
        world.ledger.observe(event);
        from = revisionOf(event.object);
        world.reached = from;
      }
    } finally {
      clearInterval(stop);
      connection.cut();
    }
  }
}

/** Watches random scopes from random revisions, slow or fast, cuts and resumes, until the run ends. */
export async function watcher(world: World, random: Random): Promise<void> {
  let resumed: WatchSeen | undefined;
  while (world.isRunning) {
    const seen = (random.percent(50) ? resume(resumed) : undefined) ?? begin(world, random);
    const manner = {
      pauseMs: random.percent(30) ? random.between(1, 30) : 0,
      cutAfterMs: random.between(1, random.percent(85) ? 1000 : 8000),
    };
    world.watches.push(seen);
    world.count("watches");
    resumed = await watchOnce(world, random.pick(world.wires), seen, manner);
  }
}

/** A watch from any revision that a client may use. */
function begin(world: World, random: Random): WatchSeen {
  const { start, acknowledged } = world.ledger;
  const scope = randomScope(random);
  const common = { watch: 1, timeoutSeconds: random.percent(30) ? random.between(3, 5) : undefined };
  const bookmarks = { allowWatchBookmarks: "true" };
  const initial = { sendInitialEvents: "true", resourceVersionMatch: "NotOlderThan", ...bookmarks };
  const past = random.between(start, acknowledged);
  const future = acknowledged + random.between(1, 30);
  const seen = (parameters: Record<string, string | number | undefined>, from?: number, atLeast = 0): WatchSeen => ({
    query: pathOf(scope, { ...common, ...parameters }),
    scope,
    from,
    initial: [],
    events: [],
    atLeast,
  });
  const starts: [() => WatchSeen, ...(() => WatchSeen)[]] = [
    () => seen({ resourceVersion: past }, past),
    () => seen({ resourceVersion: past, ...bookmarks }, past),
    () => seen({ resourceVersion: past, sendInitialEvents: "false", resourceVersionMatch: "NotOlderThan" }, past),
    () => seen({ resourceVersion: acknowledged, ...bookmarks }, acknowledged),
    () => seen({ resourceVersion: future }, future),
    () => seen({ ...initial }, undefined, acknowledged),
    () => seen({ ...initial, resourceVersion: 0 }),
    () => seen({ ...initial, resourceVersion: past }, undefined, past),
    () => seen({ ...bookmarks }, undefined, acknowledged),
    () => seen({ ...bookmarks, resourceVersion: 0 }),
  ];
  return random.pick(starts)();
}

/** The same watch, resumed where it ended. */
function resume(seen: WatchSeen | undefined): WatchSeen | undefined {
  const last = seen?.events.at(-1);
  if (seen === undefined || last === undefined) return undefined;
  const from = revisionOf(last.object);
  const query = pathOf(seen.scope, { watch: 1, resourceVersion: from });
  return { query, scope: seen.scope, from, initial: [], events: [], atLeast: 0 };
}

/** Reads one connection. Returns the watch if it can be resumed; undefined after an error. */
async function watchOnce(world: World, wire: Wire, seen: WatchSeen, manner: Manner): Promise<WatchSeen | undefined> {
  const connection = await connect(world, wire, seen.query);
  if (connection === undefined) return undefined;
  world.open.add(seen);
  const cutAt = Date.now() + manner.cutAfterMs;
  // Once writing has stopped, the open watches must deliver everything that is missing.
  const stop = setInterval(() => {
    if (!world.isRunning || (world.isWriting && Date.now() > cutAt)) connection.cut();
  }, 20);
  let refusal: Extract<WireEvent, { type: "ERROR" }> | undefined;
  try {
    for await (const event of connection.events()) {
      if (event.type === "ERROR") refusal = event;
      else take(world, seen, event);
      if (manner.pauseMs > 0 && world.isWriting) await sleep(manner.pauseMs);
    }
  } finally {
    clearInterval(stop);
    connection.cut();
    world.open.delete(seen);
  }
  if (refusal === undefined) return seen;
  const last = seen.events.at(-1);
  if (refusal.object.code === 410) world.expired(last ? revisionOf(last.object) : (seen.from ?? 0), seen.query);
  else assert.ok(world.tolerance.outages, `${seen.query}: ${JSON.stringify(refusal)}`);
  world.count(refusal.object.code === 410 ? "watches rejected as too old" : "watches during an outage");
  return undefined;
}

function take(world: World, seen: WatchSeen, event: ObjectEvent): void {
  if (seen.from !== undefined) {
    seen.events.push(event);
    world.count("events");
    return;
  }
  if (event.type === "BOOKMARK") {
    assert.equal(event.object.metadata.annotations?.["k8s.io/initial-events-end"], "true", seen.query);
    seen.from = revisionOf(event.object);
    return;
  }
  assert.equal(event.type, "ADDED", `${seen.query}: ${JSON.stringify(event)}`);
  seen.initial.push(event.object);
}

async function connect(world: World, wire: Wire, path: string): Promise<WatchConnection | undefined> {
  try {
    return await wire.watch(path);
  } catch (error) {
    if (!world.tolerance.outages) throw error;
    world.count("no answer");
    await sleep(50);
    return undefined;
  }
}

/** Whether a watch has delivered everything. Only valid once the history is complete. */
export function isDrained(world: World, seen: WatchSeen): boolean {
  const shown = seen.events.filter((event) => event.type !== "BOOKMARK").length;
  return seen.from !== undefined && shown >= expectedCount(world.ledger, seen);
}
