import assert from "node:assert/strict";
import * as hooks from "node:test";
import { suite, test } from "node:test";
import { setImmediate as nextTurn } from "node:timers/promises";
import { eventually } from "../../../../test/support/time.ts";
import { ApiError } from "../../../base/api/api-error.ts";
import { forkPerTest } from "../../testing/fork-per-test.ts";
import type { ReconcileFunction, ReconcileOptions } from "./reconcile-types.ts";
import { Labels, Shelves, Widgets } from "./widgets.suite.ts";

type Widget = typeof Widgets.Object;

const cp = forkPerTest(hooks, {
  kinds: [Widgets, Labels, Shelves],
  controllers: "none",
  clock: { at: "2026-01-01T00:00:00Z" },
});
const widgets = () => cp().client(Widgets);
const labels = () => cp().client(Labels);
const make = (name: string, size = 3) => widgets().create({ metadata: { name }, spec: { colour: "red", size } });
const names = (list: { readonly items: readonly { readonly metadata: { readonly name: string } }[] }) =>
  list.items.map(({ metadata }) => metadata.name);

/** A reconciler that notes its calls: "a 3". */
function note(options: ReconcileOptions<Widget> = {}, also?: ReconcileFunction<Widget>) {
  const calls: string[] = [];
  const errors: string[] = [];
  const reconciler = cp().reconcile(
    Widgets,
    async (widget, context) => {
      calls.push(`${widget.metadata.name} ${widget.spec.size}`);
      return also?.(widget, context);
    },
    {
      onError: (error, key) => void errors.push(`${key}: ${error instanceof Error ? error.message : error}`),
      ...options,
    },
  );
  return { reconciler, calls, errors };
}

suite("a reconciler", () => {
  test("is called for existing objects, new ones and changes", async () => {
    await make("a");
    const { reconciler, calls } = note();
    await reconciler.settled();
    await make("b");
    await widgets().patch("a", { spec: { size: 4 } });
    await reconciler.settled();
    assert.deepEqual(calls, ["a 3", "b 3", "a 4"]);
  });

  test("gets the newest version of an object, once however often it changed", async () => {
    const { promise: opened, resolve: open } = Promise.withResolvers<void>();
    const { reconciler, calls } = note({}, ({ metadata }) => (metadata.name === "first" ? opened : nextTurn()));
    await make("first");
    await eventually(() => calls.length === 1);
    await make("a");
    for (const size of [4, 5, 6]) await widgets().patch("a", { spec: { size } });
    await cp().settled();
    open();
    await reconciler.settled();
    assert.deepEqual(calls, ["first 3", "a 6"]);
  });

  test("reconciles several objects at the same time, but never one twice", async () => {
    const running = new Set<string>();
    let most = 0;
    const { reconciler, calls } = note({ concurrency: 2 }, async ({ metadata, spec }, { client }) => {
      assert.ok(!running.has(metadata.name));
      running.add(metadata.name);
      most = Math.max(most, running.size);
      if (spec.size < 5) await client(Widgets).patch(metadata, { spec: { size: spec.size + 1 } });
      running.delete(metadata.name);
    });
    for (const name of ["a", "b", "c"]) await make(name);
    await reconciler.settled();
    assert.equal(most, 2);
    assert.equal(calls.length, 9);
  });

  test("tries again with growing delays after an error", async () => {
    let failures = 4;
    const times: number[] = [];
    const { errors } = note({ minBackoffMs: 1000, maxBackoffMs: 3000 }, async () => {
      times.push(cp().clock.now().getUTCSeconds());
      if (failures-- > 0) throw new Error("out of paint");
    });
    await make("a");
    await cp().clock.advance({ seconds: 30 });
    assert.deepEqual(times, [0, 1, 3, 6, 9]);
    assert.deepEqual(new Set(errors), new Set(["default/a: out of paint"]));
    assert.equal(errors.length, 4);
  });

  test("is not settled while an object fails, and then says why", async () => {
    const { reconciler, errors } = note({}, async () => {
      throw new Error("out of paint");
    });
    await make("a");
    await eventually(() => errors.length > 0);
    await assert.rejects(
      reconciler.settled({ withinMs: 50 }),
      /reconciler of Widget is not settled after 50 ms; failing: default\/a: out of paint/,
    );
  });

  test("continues if the function for errors throws", async () => {
    const onError = () => assert.fail("broken");
    let failures = 1;
    const { reconciler, calls } = note({ onError }, async () => {
      if (failures-- > 0) throw new Error("out of paint");
    });
    await make("a");
    await cp().clock.advance({ seconds: 1 });
    await reconciler.settled();
    assert.deepEqual(calls, ["a 3", "a 3"]);
  });

  test("does not report conflicts, but tries again", async () => {
    await make("a");
    let tries = 0;
    const { errors } = note({ minBackoffMs: 1000 }, async (widget, { client }) => {
      if (++tries === 1) await widgets().patch("a", { metadata: { labels: { x: "y" } } });
      if (widget.spec.size < 5) await client(Widgets).update({ ...widget, spec: { ...widget.spec, size: 5 } });
    });
    await cp().clock.advance({ seconds: 10 });
    assert.equal((await widgets().get("a")).spec.size, 5);
    assert.deepEqual(errors, []);
    assert.ok(tries >= 2);
  });

  test("calls again after the time that the function returns", async () => {
    const { reconciler, calls } = note({}, async () => ({ requeueAfterMs: 60_000 }));
    await make("a");
    await reconciler.settled();
    await cp().clock.advance({ minutes: 3 });
    assert.equal(calls.length, 4);
    await widgets().delete("a");
    await reconciler.settled();
    await cp().clock.advance({ minutes: 3 });
    assert.equal(calls.length, 4);
  });

  test("adds a finalizer before the first call, and finalizes instead of reconciling a deleted object", async () => {
    const done: string[] = [];
    const { reconciler } = note(
      {
        finalizers: {
          "shop.example/paint": async ({ metadata }) => void done.push(`paint of ${metadata.name}`),
          "shop.example/parts": async ({ metadata }) => void done.push(`parts of ${metadata.name}`),
        },
      },
      async ({ metadata }) => void done.push(`${metadata.finalizers}`),
    );
    const made = await make("a");
    assert.equal(made.metadata.finalizers, undefined);
    await reconciler.settled();
    assert.equal(done[0], "shop.example/paint,shop.example/parts");
    done.length = 0;
    await widgets().delete("a");
    await reconciler.settled();
    assert.deepEqual(done, ["paint of a", "parts of a"]);
    assert.equal(await widgets().find("a"), undefined);
  });

  test("keeps a deleted object until its finalizer succeeds, and leaves the finalizers of others alone", async () => {
    let isReady = false;
    const finalize = async () => {
      if (!isReady) throw new Error("paint is wet");
    };
    const { reconciler, errors } = note({ minBackoffMs: 1000, finalizers: { "shop.example/paint": finalize } });
    await widgets().create({ metadata: { name: "a", finalizers: ["other.example/x"] }, spec: { colour: "red" } });
    await reconciler.settled();
    await widgets().delete("a");
    await cp().clock.advance({ seconds: 2 });
    assert.deepEqual((await widgets().get("a")).metadata.finalizers, ["other.example/x", "shop.example/paint"]);
    assert.ok(errors.length > 0);
    isReady = true;
    await cp().clock.advance({ seconds: 10 });
    assert.deepEqual((await widgets().get("a")).metadata.finalizers, ["other.example/x"]);
    await widgets().patch("a", { metadata: { finalizers: null } });
    await reconciler.settled();
    assert.equal(await widgets().find("a"), undefined);
  });

  test("a finalizer that asks for more time is called again", async () => {
    let calls = 0;
    const wait = async () => (++calls < 3 ? { requeueAfterMs: 1000 } : undefined);
    const { reconciler } = note({ finalizers: { "shop.example/paint": wait } });
    await make("a");
    await reconciler.settled();
    await widgets().delete("a");
    await cp().clock.advance({ seconds: 5 });
    assert.deepEqual([calls, await widgets().find("a")], [3, undefined]);
  });

  test("restores what it owns", async () => {
    const { reconciler } = note({ owns: [Labels] }, async ({ metadata, spec }, { client, owner }) => {
      const { name } = metadata;
      const label = { metadata: { name, ownerReferences: [owner] }, spec: { text: `${spec.size}` } };
      await client(Labels).apply(label, { force: true });
    });
    await make("a");
    await make("b");
    await reconciler.settled();
    assert.deepEqual(names(await labels().list()), ["a", "b"]);
    await labels().delete("a");
    await labels().patch("b", { spec: { text: "wrong" } });
    await reconciler.settled();
    assert.deepEqual(names(await labels().list()), ["a", "b"]);
    assert.equal((await labels().get("b")).spec.text, "3");
  });

  test("reports a conflict with the field manager of another client", async () => {
    await labels().create({ metadata: { name: "a" }, spec: { text: "theirs" } });
    const { errors } = note({ minBackoffMs: 1000 }, async ({ metadata: { name } }, { client }) => {
      await client(Labels).apply({ metadata: { name }, spec: { text: "ours" } });
    });
    await make("a");
    await cp().settled();
    assert.match(errors[0] ?? "", /^default\/a: Apply failed with 1 conflict: .*\.spec\.text/s);
  });

  test("an object without a namespace can own objects of namespaces", async () => {
    const calls: string[] = [];
    const reconciler = cp().reconcile(
      Shelves,
      async ({ metadata }, { client, owner }) => {
        calls.push(metadata.name);
        const label = { metadata: { name: "l", ownerReferences: [owner] }, spec: { text: "shelf" } };
        await client(Labels, { namespace: "default" }).apply(label);
      },
      { owns: [Labels] },
    );
    await cp()
      .client(Shelves)
      .create({ metadata: { name: "s" }, spec: {} });
    await reconciler.settled();
    await labels().delete("l");
    await reconciler.settled();
    assert.deepEqual(names(await labels().list()), ["l"]);
    assert.ok(calls.every((name) => name === "s"));
  });

  test("acts as its user, on the objects that it selects", async () => {
    const user = { name: "painter" };
    const { reconciler: denied } = note({ user });
    await assert.rejects(denied.settled(), (error: unknown) => error instanceof ApiError && error.code === 403);
    const { reconciler, calls } = note({ namespace: "default", labelSelector: { tier: "x" } });
    await make("a");
    await make("b");
    await widgets().patch("b", { metadata: { labels: { tier: "x" } } });
    await reconciler.settled();
    assert.deepEqual(calls, ["b 3"]);
  });

  test("finds what happened while its watch was broken", async () => {
    const { reconciler, calls } = note();
    await reconciler.settled();
    cp().faults.dropEvents({ resource: "widgets", times: 1 });
    await make("a");
    cp().faults.expireWatches();
    await reconciler.settled();
    assert.deepEqual(calls, ["a 3"]);
  });

  test("lets the running function end when it is closed, and calls no other", async () => {
    const { promise: left, resolve: leave } = Promise.withResolvers<void>();
    const { reconciler, calls } = note({}, (_, { signal }) => {
      signal.addEventListener("abort", () => leave());
      return left;
    });
    await make("a");
    await eventually(() => calls.length === 1);
    await make("b");
    await cp().settled();
    await reconciler.close();
    await reconciler.settled();
    assert.deepEqual(calls, ["a 3"]);
  });

  test("fails for another program as it would over the network", async () => {
    const fault = cp().faults.conflict({ verb: "patch", resource: "widgets", times: 1 });
    const { errors } = note({ minBackoffMs: 1000, finalizers: { "shop.example/paint": async () => {} } });
    await make("a");
    await cp().clock.advance({ seconds: 5 });
    assert.equal(fault.hits, 1);
    assert.deepEqual([errors, (await widgets().get("a")).metadata.finalizers], [[], ["shop.example/paint"]]);
  });
});
