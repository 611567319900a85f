import assert from "node:assert/strict";
import { test } from "node:test";
import { nodeName } from "./node-name.ts";
import { node, PluginWorld, pod } from "./plugins.suite.ts";

test("NodeName allows only the named node", () => {
  const world = new PluginWorld(nodeName, {}, node("a"), node("b"));
  assert.deepEqual(world.check(pod("p", { nodeName: "a" })), {
    a: undefined,
    b: "node(s) didn't match the requested node name",
  });
  assert.deepEqual(world.check(pod("p")), { a: undefined, b: undefined });
});
