import assert from "node:assert/strict";
import { test } from "node:test";
import type { WatchEvent } from "../../base/api/reply.ts";
import { END, type Pollable, PollWaiter } from "../../base/util/pollable.ts";
import type { WatchBatch } from "../../storage/store.ts";
import { ConvertedEvents } from "./converted-events.ts";
import { viewObject } from "./object-view.ts";

/** A source with the given batches, followed by its end. */
function sourceOf(revisions: readonly number[]): Pollable<WatchBatch> {
  const batches = revisions.map((revision) => ({ events: [], revision }));
  return { poll: () => batches.shift() ?? END, onReady: () => {}, stop: () => {} };
}

function event(revision: number): WatchEvent {
  const metadata = { resourceVersion: String(revision) };
  return { type: "ADDED", view: viewObject({ kind: "Thing", apiVersion: "v1", metadata }) };
}

test("returns batches in order as they are converted, and skips empty ones", async () => {
  const answers = new Map([1, 2, 3].map((revision) => [revision, Promise.withResolvers<WatchEvent[]>()]));
  const asked: number[] = [];
  const events = new ConvertedEvents(sourceOf([1, 2, 3]), ({ revision }) => {
    asked.push(revision);
    return answers.get(revision)?.promise ?? assert.fail("an unknown batch");
  });
  const waiter = new PollWaiter(events);
  const next = waiter.next();
  assert.equal(events.isBusy, true);
  answers.get(3)?.resolve([event(3)]);
  assert.equal(events.poll(), undefined);
  assert.deepEqual(asked, [1]);
  answers.get(1)?.resolve([event(1)]);
  assert.equal((await next).value?.length, 1);
  assert.equal(events.isBusy, false);
  const last = waiter.next();
  assert.deepEqual(asked, [1, 2]);
  answers.get(2)?.resolve([]);
  const [shown] = (await last).value ?? [];
  assert.equal(shown?.type === "ADDED" && shown.view.object.metadata.resourceVersion, "3");
  assert.equal((await waiter.next()).done, true);
});

test("a failed conversion fails the stream at that point", async () => {
  const events = new ConvertedEvents(sourceOf([1, 2]), async ({ revision }) => {
    if (revision === 2) throw new Error("no answer");
    return [event(revision)];
  });
  const waiter = new PollWaiter(events);
  assert.equal((await waiter.next()).value?.length, 1);
  await assert.rejects(waiter.next(), /no answer/);
});
