import assert from "node:assert/strict";
import * as hooks from "node:test";
import { suite, test } from "node:test";
import { eventually } from "../../../../test/support/time.ts";
import { forkPerTest } from "../../testing/fork-per-test.ts";
import type { InformerChange } from "./client-types.ts";
import { Widgets } from "./widgets.suite.ts";

const cp = forkPerTest(hooks, { kinds: [Widgets], controllers: "none" });
const widgets = () => cp().client(Widgets);
const make = (name: string, size = 3, labels = {}) =>
  widgets().create({ metadata: { name, labels }, spec: { colour: "red", size } });

/** An informer, and what it reports: "ADDED a 3". */
function follow(options: Parameters<ReturnType<typeof widgets>["informer"]>[0] = {}) {
  const informer = widgets().informer(options);
  const reported: string[] = [];
  const note = ({ type, object }: InformerChange<typeof Widgets.Object>) =>
    void reported.push(`${type} ${object.metadata.name} ${object.spec.size}`);
  informer.subscribe(note);
  return { informer, reported, note };
}

suite("an informer", () => {
  test("has all objects when it is synced, and follows their changes", async () => {
    await make("a");
    const { informer, reported } = follow();
    await informer.synced();
    assert.equal(informer.get("a")?.spec.size, 3);
    await make("b");
    await widgets().patch("a", { spec: { size: 4 } });
    await widgets().delete("b");
    await eventually(() => reported.length === 4);
    assert.deepEqual(reported, ["ADDED a 3", "ADDED b 3", "MODIFIED a 4", "DELETED b 3"]);
    assert.deepEqual(
      informer.list().map(({ metadata }) => metadata.name),
      ["a"],
    );
    assert.equal(informer.get({ name: "a", namespace: "default" })?.spec.size, 4);
    assert.equal(informer.get({ name: "a", namespace: "other" }), undefined);
  });

  test("shows a new listener the cache first, and a listener that left nothing", async () => {
    await make("a");
    const { informer, note, reported } = follow();
    await informer.synced();
    const leave = informer.subscribe(note);
    assert.deepEqual(reported, ["ADDED a 3", "ADDED a 3"]);
    leave();
    await make("b");
    await eventually(() => reported.length > 2);
    await make("c");
    await eventually(() => reported.length > 3);
    assert.deepEqual(reported.slice(2), ["ADDED b 3", "ADDED c 3"]);
  });

  test("keeps reporting after a listener has thrown", async () => {
    const { informer, reported } = follow();
    informer.subscribe(() => {
      throw new Error("broken listener");
    });
    await informer.synced();
    await make("a");
    await make("b");
    await eventually(() => reported.length === 2);
  });

  test("sees an object appear and disappear that a change selects", async () => {
    const { informer, reported } = follow({ labelSelector: { tier: "x" } });
    await informer.synced();
    await make("a");
    await widgets().patch("a", { metadata: { labels: { tier: "x" } } });
    await widgets().patch("a", { metadata: { labels: { tier: null } } });
    await eventually(() => reported.length === 2);
    assert.deepEqual(reported, ["ADDED a 3", "DELETED a 3"]);
  });

  test("continues where it was after its watch broke", async () => {
    const { informer, reported } = follow();
    await informer.synced();
    await make("a");
    await eventually(() => reported.length === 1);
    cp().requests.clear();
    cp().faults.cutWatches();
    await make("b");
    await eventually(() => reported.length === 2);
    assert.deepEqual(cp().requests.list({ verb: "list", resource: "widgets" }), []);
  });

  test("lists again after 410, and reports what it missed", async () => {
    await make("a");
    await make("b");
    const { informer, reported } = follow();
    await informer.synced();
    cp().faults.dropEvents({ resource: "widgets", times: 3 });
    await make("c");
    await widgets().patch("a", { spec: { size: 5 } });
    await widgets().delete("b");
    await cp().settled();
    assert.equal(reported.length, 2);
    cp().faults.expireWatches();
    await eventually(() => reported.length === 5);
    assert.deepEqual(reported.slice(2), ["DELETED b 3", "MODIFIED a 5", "ADDED c 3"]);
  });

  test("lists again after the control plane was reset", async () => {
    const { informer, reported } = follow();
    await informer.synced();
    await make("a");
    await eventually(() => reported.length === 1);
    await cp().reset();
    await eventually(() => reported.length === 2);
    assert.deepEqual(reported, ["ADDED a 3", "DELETED a 3"]);
    await make("b");
    await eventually(() => reported.length === 3);
  });

  test("goes on if the control plane is reset while it waits for its next attempt", async () => {
    cp().clock.stop();
    const { informer, reported } = follow();
    await informer.synced();
    await cp().settled();
    const fault = cp().faults.error({ verb: "watch", resource: "widgets", code: 503 });
    cp().faults.cutWatches();
    await cp().settled();
    assert.equal(fault.hits, 1);
    await cp().reset();
    await make("a");
    await eventually(() => reported.length === 1);
    assert.deepEqual(reported, ["ADDED a 3"]);
  });

  test("tries again when it cannot list, and is synced then", async () => {
    const fault = cp().faults.error({ verb: "list", resource: "widgets", code: 503, times: 3 });
    const { informer } = follow();
    await informer.synced();
    assert.equal(fault.hits, 3);
  });

  test("ends its watch when it is closed", async () => {
    const { informer, reported } = follow();
    await informer.synced();
    await informer.close();
    await make("a");
    const other = follow();
    await eventually(() => other.reported.length === 1);
    assert.deepEqual([informer.list(), reported], [[], []]);
    const early = follow().informer;
    const synced = early.synced();
    await early.close();
    await assert.rejects(synced, /closed before it had listed/);
  });
});
