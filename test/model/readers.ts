import assert from "node:assert/strict";
import { setTimeout as sleep } from "node:timers/promises";
import { type World, writeOnce } from "./actors.ts";
import type { ListSeen } from "./judge.ts";
import type { Random } from "./random.ts";
import { pathOf, randomScope, type Scope } from "./scope.ts";
import type { Body } from "./wire.ts";

/** The revision that a list requests, and what must be true of the result. */
interface Moment {
  readonly parameters: Readonly<Record<string, string | number | undefined>>;
  readonly atLeast: number;
  readonly exactly?: number;
  /** The limit has no effect: the result is complete. */
  readonly ignoresLimit?: boolean;
}

/** Lists random past and current revisions, whole or in pages, until the run ends. */
export async function lister(world: World, random: Random): Promise<void> {
  while (world.isRunning) {
    const limit = random.percent(50) ? random.between(1, 6) : undefined;
    await listOnce(world, random, randomScope(random), limit);
    await sleep(random.between(0, 20));
  }
}

function randomMoment(world: World, random: Random, limit: number | undefined): Moment {
  const newest = world.ledger.acknowledged;
  const past = random.between(world.ledger.start, newest);
  const moments: [Moment, ...Moment[]] = [
    { parameters: {}, atLeast: newest },
    { parameters: { resourceVersion: 0 }, atLeast: 0, ignoresLimit: true },
    { parameters: { resourceVersion: 0, resourceVersionMatch: "NotOlderThan" }, atLeast: 0, ignoresLimit: true },
    { parameters: { resourceVersion: past, resourceVersionMatch: "NotOlderThan" }, atLeast: past },
    { parameters: { resourceVersion: newest, resourceVersionMatch: "NotOlderThan" }, atLeast: newest },
    { parameters: { resourceVersion: past, resourceVersionMatch: "Exact" }, atLeast: past, exactly: past },
    { parameters: { resourceVersion: newest, resourceVersionMatch: "Exact" }, atLeast: newest, exactly: newest },
    limit === undefined
      ? { parameters: { resourceVersion: past }, atLeast: past }
      : { parameters: { resourceVersion: past }, atLeast: past, exactly: past },
  ];
  return random.pick(moments);
}

/** One list, with writes between its pages. The result is recorded for the judge. */
export async function listOnce(world: World, random: Random, scope: Scope, limit: number | undefined): Promise<void> {
  const moment = randomMoment(world, random, limit);
  const query = pathOf(scope, { ...moment.parameters, limit });
  const first = await world.ask(random.pick(world.wires), "GET", query);
  if (first === undefined) return;
  if (first.status === 410) {
    assert.ok(moment.exactly !== undefined, `${query}: ${JSON.stringify(first.body)}`);
    world.expired(moment.exactly, query);
    return world.count("lists rejected as too old");
  }
  assert.equal(first.status, 200, `${query}: ${JSON.stringify(first.body)}`);
  const { items, pages, revision, isWhole } = await readPages(world, random, { scope, limit, query }, first.body);
  world.ledger.acknowledge(revision);
  if (moment.ignoresLimit) assert.ok(isWhole && pages.length === 1, query);
  world.lists.push({ query, scope, revision, items, pages, isWhole, atLeast: moment.atLeast, exactly: moment.exactly });
  world.count(limit === undefined ? "lists" : "lists in pages");
}

type Pages = Pick<ListSeen, "items" | "pages" | "revision" | "isWhole">;

async function readPages(
  world: World,
  random: Random,
  list: { readonly scope: Scope; readonly limit: number | undefined; readonly query: string },
  first: Body,
): Promise<Pages> {
  const revision = Number(first.metadata?.resourceVersion);
  const items = [...(first.items ?? [])];
  const pages = [{ count: items.length, remaining: first.metadata?.remainingItemCount }];
  let next = first.metadata?.continue;
  while (next) {
    if (world.isWriting) await writeOnce(world, random);
    const path = pathOf(list.scope, { limit: list.limit, continue: next });
    const answer = await world.ask(random.pick(world.wires), "GET", path);
    if (answer === undefined) return { items, pages, revision, isWhole: false };
    if (answer.status === 410) {
      world.expired(revision, path);
      assert.equal(answer.body.reason, "Expired");
      world.count("pages rejected as too old");
      return { items, pages, revision, isWhole: false };
    }
    assert.equal(answer.status, 200, `${path}: ${JSON.stringify(answer.body)}`);
    assert.equal(Number(answer.body.metadata?.resourceVersion), revision, `${path}: another page, another version`);
    items.push(...(answer.body.items ?? []));
    pages.push({ count: items.length, remaining: answer.body.metadata?.remainingItemCount });
    next = answer.body.metadata?.continue;
  }
  return { items, pages, revision, isWhole: true };
}
