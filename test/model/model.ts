import assert from "node:assert/strict";
import { setTimeout as sleep } from "node:timers/promises";
import { eventually } from "../support/time.ts";
import { putOnce, type Tolerance, World, writer } from "./actors.ts";
import { judgeGet, judgeList, judgeWatch } from "./judge.ts";
import { Random } from "./random.ts";
import { lister } from "./readers.ts";
import { ALL, NAMES, pathOf } from "./scope.ts";
import { isDrained, reference, watcher } from "./watchers.ts";

/** One run of the model against real servers that share one store. */
export interface ModelRun {
  /** Addresses of the servers. */
  readonly bases: readonly string[];
  readonly seed: number;
  readonly seconds: number;
  readonly tolerance?: Tolerance;
  readonly writers?: number;
  readonly listers?: number;
  readonly watchers?: number;
  /** Faults to inject during the run. Writing continues until this has returned. */
  fault?(world: World, random: Random): Promise<void>;
}

const CATCH_UP_MS = 300_000;

/** Runs random clients, then checks every response that any of them got. Resolves to a line of figures. */
export async function runModel(run: ModelRun): Promise<string> {
  try {
    return await play(run);
  } catch (error) {
    throw new Error(`MODEL_SEED=${run.seed}: ${error instanceof Error ? error.message : error}`, { cause: error });
  }
}

async function play(run: ModelRun): Promise<string> {
  const random = new Random(run.seed);
  const world = await World.begin(run.bases, run.tolerance ?? {});
  const actors = [
    reference(world),
    ...many(run.writers ?? 3, () => writer(world, random.fork())),
    ...many(run.listers ?? 3, () => lister(world, random.fork())),
    ...many(run.watchers ?? 8, () => watcher(world, random.fork())),
  ];
  const failed = Promise.withResolvers<never>();
  for (const actor of actors) actor.catch(failed.reject);
  failed.promise.catch(() => undefined);
  const orFail = <T>(promise: Promise<T>) => Promise.race([promise, failed.promise]);
  try {
    await orFail(Promise.all([sleep(run.seconds * 1000), run.fault?.(world, random.fork())]));
    world.isWriting = false;
    await orFail(eventually(() => !world.isRunning || world.writing === 0, catchUp("all writes end")));
    const last = await orFail(writeLast(world));
    await orFail(
      eventually(() => !world.isRunning || world.reached >= last, catchUp("the watch of everything catches up")),
    );
    world.ledger.seal((key) => NAMES.some((name) => key.endsWith(`/${name}`)));
    await orFail(drain(world));
    await orFail(listLast(world));
  } finally {
    world.isWriting = false;
    world.isRunning = false;
    await Promise.allSettled(actors);
    for (const wire of world.wires) wire.close();
  }
  await Promise.all(actors);
  for (const seen of world.lists) judgeList(world.ledger, seen);
  for (const seen of world.gets) judgeGet(world.ledger, seen);
  for (const seen of world.watches) judgeWatch(world.ledger, seen);
  const counts = [...world.counts].sort(([a], [b]) => (a < b ? -1 : 1)).map(([what, count]) => `${count} ${what}`);
  return `MODEL_SEED=${run.seed}: ${counts.join(", ")}`;
}

const many = (count: number, start: () => Promise<void>) => Array.from({ length: count }, start);

/**
 * Writes until a version is acknowledged, and returns it. The writers have ended, so it is the last one. A deletion would not do: its
 * response has no version.
 */
async function writeLast(world: World): Promise<number> {
  const deadline = Date.now() + CATCH_UP_MS;
  for (;;) {
    const version = await putOnce(world);
    if (version !== undefined) return version;
    assert.ok(Date.now() < deadline, "no write succeeds any more");
  }
}

/** Waits until all open watches have delivered everything. A watch that does not has lost an event or is stuck. */
async function drain(world: World): Promise<void> {
  try {
    const isDone = () => !world.isRunning || [...world.open].every((seen) => isDrained(world, seen));
    await eventually(isDone, catchUp("all watches catch up"));
  } catch (error) {
    for (const seen of world.open) judgeWatch(world.ledger, seen);
    throw error;
  }
}

/** Lists the current state of every server, in one page. */
async function listLast(world: World): Promise<void> {
  for (const wire of world.wires) {
    const atLeast = world.ledger.acknowledged;
    const query = pathOf(ALL);
    const { status, body } = await wire.call("GET", query);
    assert.equal(status, 200);
    const items = body.items ?? [];
    const pages = [{ count: items.length, remaining: undefined }];
    const revision = Number(body.metadata?.resourceVersion);
    world.lists.push({ query, scope: ALL, revision, items, pages, isWhole: true, atLeast });
  }
}

const catchUp = (what: string) => ({ withinMs: CATCH_UP_MS, everyMs: 20, what });
