import assert from "node:assert/strict";
import { suite, test } from "node:test";
import { simulateDay } from "./simulated-day.suite.ts";

suite("a simulated cluster with a seed", () => {
  test("gives the same objects and watch events for the same seed, and others for another seed", async () => {
    const size = { nodes: 3, hours: 1 };
    const first = await simulateDay({ ...size, seed: 5 });
    const isThere = (path: string, text: string) =>
      first.objects.some((line) => line.startsWith(`${path} `) && line.includes(text));
    assert.ok(isThere("/api/v1/pods", '"OOMKilled"') || isThere("/api/v1/pods", '"CrashLoopBackOff"'));
    assert.ok(isThere("/api/v1/events", '"NodeNotReady"'), "a node was cut off");
    assert.ok(isThere("/api/v1/events", '"TaintManagerEviction"'), "its Pods were evicted");
    assert.ok(isThere("/api/v1/events", '"SuccessfulRescale"'), "the autoscaler has scaled");
    const second = await simulateDay({ ...size, seed: 5 });
    assert.deepEqual(second, first);
    const third = await simulateDay({ ...size, hours: 0, seed: 6 });
    assert.notDeepEqual(third.objects, first.objects);
  });
});
