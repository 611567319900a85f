import assert from "node:assert/strict";
import { suite, test } from "node:test";
import { ManualClock } from "../../base/util/environment.suite.ts";
import type { Pod } from "../../kinds/types/workloads.ts";
import type { EventOfInterest } from "./cluster-events.ts";
import type { Plugin } from "./plugin.ts";
import { node, pod } from "./plugins/plugins.suite.ts";
import { Profile } from "./profile.ts";
import { SchedulingQueue } from "./queue.ts";

const waiting = (name: string, priority = 0): Pod => pod(name, { schedulerName: "test", priority });

function queueWith(...events: readonly EventOfInterest[]) {
  const clock = new ManualClock();
  const plugin: Plugin = { name: "Picky", events };
  const profiles = new Map([["test", new Profile("test", [{ plugin, weight: 0 }])]]);
  let wakes = 0;
  const queue = new SchedulingQueue({ clock, profiles, onReady: () => (wakes += 1) });
  /** Names of the Pods that can be tried now, in order. */
  const names = () => {
    const found: string[] = [];
    for (let next = queue.pop(); next; next = queue.pop()) found.push(next.info.name);
    return found;
  };
  /** A Pod that was tried and rejected, or failed with an error. */
  const tried = (name: string, ...rejectors: readonly string[]) => {
    queue.add(waiting(name));
    const queued = queue.pop();
    assert.ok(queued);
    queue.takeBack(queued, queued.info.pod, new Set(rejectors));
    return queued;
  };
  return { clock, queue, names, tried, wakes: () => wakes };
}

suite("scheduling queue", () => {
  test("returns higher priorities first, then those that wait longest", () => {
    const { queue, names } = queueWith();
    for (const one of [waiting("a", 1), waiting("b", 2), waiting("c", 1), waiting("d", 2)]) queue.add(one);
    assert.deepEqual(names(), ["b", "d", "a", "c"]);
  });

  test("keeps rejected Pods until an event may help", () => {
    const hint = (_: Pod, __: unknown, after: unknown) => (after as Pod).metadata.name === "good";
    const { queue, names, tried } = queueWith({ resource: "Node", actions: ["Add"], hint });
    tried("p", "Picky");
    tried("q", "Other");
    assert.deepEqual(names(), []);
    queue.changed({ resource: "Node", action: "UpdateNodeLabel" }, node("good"), node("good"));
    queue.changed({ resource: "Node", action: "Add" }, undefined, node("bad"));
    assert.deepEqual(names(), []);
    queue.changed({ resource: "Node", action: "Add" }, undefined, node("good"));
    assert.deepEqual(names(), ["p"]);
  });

  test("tries Pods again in the order of their priority after their backoff", async () => {
    const { clock, queue, names, tried } = queueWith({ resource: "Node", actions: ["Add"] });
    tried("p", "Picky");
    queue.changed({ resource: "Node", action: "Add" }, undefined, node("a"));
    queue.add(waiting("first"));
    assert.deepEqual(names(), ["first", "p"]);
    tried("p", "Picky");
    await clock.advance(1000);
    queue.changed({ resource: "Node", action: "Add" }, undefined, node("b"));
    queue.add(waiting("second"));
    assert.deepEqual(names(), ["p", "second"]);
  });

  test("doubles the backoff after each error, from 1 s to 10 s", async () => {
    const { clock, queue, tried, wakes } = queueWith();
    let queued: ReturnType<typeof queue.pop> = tried("p");
    for (const seconds of [1, 2, 4, 8, 10, 10]) {
      assert.equal(queue.pop(), undefined);
      const before = wakes();
      await clock.advance(seconds * 1000 - 1);
      assert.deepEqual([wakes() - before, queue.pop()], [0, undefined]);
      await clock.advance(1);
      queued = queue.pop();
      assert.ok(queued && wakes() > before, `${seconds} s`);
      queue.takeBack(queued, queued.info.pod, new Set());
    }
  });

  test("tries rejected Pods again after five minutes", async () => {
    const { clock, queue, names, tried } = queueWith();
    tried("p", "Picky");
    await clock.advance(300_000);
    queue.flush();
    assert.deepEqual(names(), []);
    await clock.advance(1000);
    queue.flush();
    assert.deepEqual(names(), ["p"]);
  });

  test("asks the plugins whether a change of the Pod itself helps", () => {
    const { queue, names, tried } = queueWith({ resource: "TargetPod", actions: ["UpdatePodToleration"] });
    const { pod: before } = tried("p", "Picky").info;
    const labelled: Pod = { ...before, metadata: { ...before.metadata, labels: { a: "b" } } };
    queue.update(before, labelled);
    assert.deepEqual(names(), []);
    queue.update(labelled, { ...labelled, spec: { ...labelled.spec, tolerations: [{ operator: "Exists" }] } });
    assert.deepEqual(names(), ["p"]);
  });
});
