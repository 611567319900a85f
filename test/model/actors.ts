import assert from "node:assert/strict";
import { setTimeout as sleep } from "node:timers/promises";
import type { GetSeen, ListSeen, WatchSeen } from "./judge.ts";
import { keyOf, Ledger, revisionOf } from "./ledger.ts";
import type { Random } from "./random.ts";
import { ALL, NAMES, NAMESPACES, pathOf } from "./scope.ts";
import { type Answer, type Thing, Wire } from "./wire.ts";

/** Exceptions that are allowed in a run. */
export interface Tolerance {
  /** Servers or their store may be down: requests may fail, and writes may have an unknown outcome. */
  readonly outages?: boolean;
  /** History is compacted: revisions that stopped being the newest longer ago than this may be gone. */
  readonly keptMs?: number;
}

/** State shared by all actors of one run. */
export class World {
  readonly wires: readonly [Wire, ...Wire[]];
  readonly tolerance: Tolerance;
  readonly ledger: Ledger;
  readonly lists: ListSeen[] = [];
  readonly watches: WatchSeen[] = [];
  /** Watches that are connected now. */
  readonly open = new Set<WatchSeen>();
  readonly gets: GetSeen[] = [];
  /** The newest known state of each object, for writers that want to succeed. */
  readonly known = new Map<string, Thing>();
  /** Event counters, for the report. */
  readonly counts = new Map<string, number>();
  /** The revision that the reference watch has reached. */
  reached = 0;
  isWriting = true;
  /** Writes that have begun and not ended. */
  writing = 0;
  isRunning = true;
  #tokens = 0;

  constructor(wires: readonly [Wire, ...Wire[]], tolerance: Tolerance, ledger: Ledger) {
    this.wires = wires;
    this.tolerance = tolerance;
    this.ledger = ledger;
  }

  /** Starts the history with a list of existing objects. */
  static async begin(bases: readonly string[], tolerance: Tolerance): Promise<World> {
    const [first, ...others] = bases.map((base) => new Wire(base));
    assert.ok(first, "no server");
    const { status, body } = await first.call("GET", pathOf(ALL));
    assert.equal(status, 200);
    const items = body.items ?? [];
    const world = new World([first, ...others], tolerance, new Ledger(items, Number(body.metadata?.resourceVersion)));
    for (const thing of items) world.known.set(keyOf(thing), thing);
    return world;
  }

  /** A unique text for a write. */
  nextToken(): string {
    return `token-${++this.#tokens}`;
  }

  /** Increments a counter of the report. */
  count(what: string): void {
    this.counts.set(what, (this.counts.get(what) ?? 0) + 1);
  }

  /** Records that a request for history after `revision` was rejected. Fails if it must still be available. */
  expired(revision: number, what: string): void {
    const { keptMs } = this.tolerance;
    assert.ok(keptMs !== undefined, `too old although nothing is compacted: ${what}`);
    const bound = this.ledger.newestBefore(keptMs);
    assert.ok(revision < bound, `too old although ${revision} is not older than ${bound}: ${what}`);
  }

  /** The response; undefined if there was none although outages are expected. Pauses in that case. */
  async ask(wire: Wire, method: string, path: string, body?: unknown): Promise<Answer | undefined> {
    try {
      const answer = await wire.call(method, path, body);
      if (answer.status < 500 && answer.status !== 429) return answer;
      assert.ok(this.tolerance.outages, `${method} ${path}: ${answer.status} ${JSON.stringify(answer.body)}`);
    } catch (error) {
      if (!this.tolerance.outages || error instanceof assert.AssertionError) throw error;
    }
    this.count("no answer");
    await sleep(50);
    return undefined;
  }
}

/** Creates, replaces and deletes objects, mostly successfully, until writing ends. */
export async function writer(world: World, random: Random): Promise<void> {
  while (world.isWriting) {
    await writeOnce(world, random);
    if (random.percent(30)) await sleep(random.between(0, 15));
  }
}

/** One write of any kind. */
export async function writeOnce(world: World, random: Random): Promise<void> {
  world.writing++;
  await writeAny(world, random).finally(() => world.writing--);
}

async function writeAny(world: World, random: Random): Promise<void> {
  const wire = random.pick(world.wires);
  if (random.percent(15)) return writeElsewhere(world, wire, random);
  const namespace = random.pick(NAMESPACES);
  const name = random.pick(NAMES);
  const key = `${namespace}/${name}`;
  const current = world.known.get(key);
  if (current === undefined) await put(world, wire, { namespace, name, app: labelFor(random) });
  else if (random.percent(30)) await remove(world, wire, current);
  else await put(world, wire, { namespace, name, app: labelFor(random), current });
}

/** Creates or replaces one object. Returns its version, or undefined if that was refused or its outcome is unknown. */
export async function putOnce(world: World): Promise<number | undefined> {
  const [[namespace], [name]] = [NAMESPACES, NAMES];
  const current = world.known.get(`${namespace}/${name}`);
  return put(world, world.wires[0], { namespace, name, app: undefined, ...(current && { current }) });
}

const labelFor = (random: Random) => random.pick(["red", "green", "blue", undefined]);

interface Wanted {
  readonly namespace: string;
  readonly name: string;
  readonly app: string | undefined;
  readonly current?: Thing;
}

/** Returns the new version if the write was acknowledged. */
async function put(world: World, wire: Wire, { namespace, name, app, current }: Wanted): Promise<number | undefined> {
  const token = world.nextToken();
  const { ledger, known } = world;
  const key = `${namespace}/${name}`;
  const attempt = ledger.attempt(key, token, current ? revisionOf(current) : 0);
  const version = current?.metadata.resourceVersion;
  const metadata = { name, namespace, resourceVersion: version, labels: app === undefined ? {} : { app } };
  const body = { apiVersion: "v1", kind: "ConfigMap", metadata, data: { token } };
  const folder = `/api/v1/namespaces/${namespace}/configmaps`;
  const answer = await world.ask(wire, current ? "PUT" : "POST", current ? `${folder}/${name}` : folder, body);
  if (answer === undefined) {
    await refresh(world, wire, key);
    return undefined;
  }
  if (answer.status === 200 || answer.status === 201) {
    const thing = answer.body as unknown as Thing;
    ledger.confirm(attempt, thing);
    learn(world, thing);
    world.count("writes");
    return revisionOf(thing);
  }
  attempt.outcome = "refused";
  const allowed = current ? [404, 409] : [409];
  assert.ok(allowed.includes(answer.status), `${answer.status} ${JSON.stringify(answer.body)}`);
  if (answer.status === 404) known.delete(key);
  await refresh(world, wire, key);
  return undefined;
}

async function remove(world: World, wire: Wire, current: Thing): Promise<void> {
  const { namespace, name, resourceVersion } = current.metadata;
  const attempt = world.ledger.attempt(keyOf(current), undefined, Number(resourceVersion));
  const options = { apiVersion: "v1", kind: "DeleteOptions", preconditions: { resourceVersion } };
  const path = `/api/v1/namespaces/${namespace}/configmaps/${name}`;
  const answer = await world.ask(wire, "DELETE", path, options);
  if (answer?.status === 200) {
    world.ledger.confirm(attempt);
    world.count("writes");
    if (world.known.get(keyOf(current)) === current) world.known.delete(keyOf(current));
    return;
  }
  if (answer !== undefined) {
    attempt.outcome = "refused";
    assert.ok([404, 409].includes(answer.status), `${answer.status} ${JSON.stringify(answer.body)}`);
  }
  await refresh(world, wire, keyOf(current));
}

/** A write of another kind: the revision changes without an event in these watches. */
async function writeElsewhere(world: World, wire: Wire, random: Random): Promise<void> {
  const body = { apiVersion: "v1", kind: "Secret", metadata: { generateName: "noise-" } };
  const sentMs = Date.now();
  const answer = await world.ask(wire, "POST", `/api/v1/namespaces/${random.pick(NAMESPACES)}/secrets`, body);
  if (answer === undefined) return;
  assert.equal(answer.status, 201, JSON.stringify(answer.body));
  world.ledger.acknowledge(Number(answer.body.metadata?.resourceVersion), sentMs);
  world.count("writes of another kind");
}

/** Reads an object consistently, which counts as an observation. */
async function refresh(world: World, wire: Wire, key: string): Promise<void> {
  const atLeast = world.ledger.acknowledged;
  const [namespace, name] = key.split("/");
  const answer = await world.ask(wire, "GET", `/api/v1/namespaces/${namespace}/configmaps/${name}`);
  if (answer === undefined) return;
  assert.ok(answer.status === 200 || answer.status === 404, JSON.stringify(answer.body));
  const thing = answer.status === 200 ? (answer.body as unknown as Thing) : undefined;
  world.gets.push({ key, thing, atLeast });
  if (thing === undefined) world.known.delete(key);
  else learn(world, thing);
}

function learn({ known }: World, thing: Thing): void {
  const before = known.get(keyOf(thing));
  if (before === undefined || revisionOf(before) < revisionOf(thing)) known.set(keyOf(thing), thing);
}
