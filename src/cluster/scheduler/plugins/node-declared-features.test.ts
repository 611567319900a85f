import assert from "node:assert/strict";
import { test } from "node:test";
import type { JsonObject } from "../../../base/api/object.ts";
import { podInfoOf } from "../pod-info.ts";
import { nodeDeclaredFeatures } from "./node-declared-features.ts";
import { node, PluginWorld, pod } from "./plugins.suite.ts";

const MISSING = "node(s) didn't match Pod's required features";
const container = (more: JsonObject) => ({ containers: [{ name: "main", image: "nginx", ...more }] });

const CASES: Readonly<Record<string, JsonObject>> = {
  RestartAllContainersOnContainerExits: container({
    restartPolicyRules: [{ action: "RestartAllContainers", exitCodes: { operator: "In", values: [1] } }],
  }),
  UserNamespacesHostNetworkSupport: { hostNetwork: true, hostUsers: false },
  VolumeBindMountOptions: container({ volumeMounts: [{ name: "v", mountPath: "/v", bindMountOptions: ["nosuid"] }] }),
};

test("NodeDeclaredFeatures rejects nodes that lack a feature", () => {
  for (const [feature, spec] of Object.entries(CASES)) {
    const status = { declaredFeatures: ["Another", feature] };
    const world = new PluginWorld(nodeDeclaredFeatures, {}, node("new", { status }), node("old"));
    assert.deepEqual(world.check(pod("p", spec)), { new: undefined, old: MISSING }, feature);
    assert.equal(world.plugin.filter?.(podInfoOf(pod("p"))), undefined);
  }
});

test("NodeDeclaredFeatures queues Pods after changes of features", () => {
  const { events = [] } = new PluginWorld(nodeDeclaredFeatures).plugin;
  const hintOf = (resource: string) => events.find((event) => event.resource === resource)?.hint;
  const declaring = (...declaredFeatures: string[]) => node("n", { status: { declaredFeatures } });
  assert.equal(hintOf("Node")?.(pod("p"), undefined, declaring()), true);
  assert.equal(hintOf("Node")?.(pod("p"), declaring("a"), declaring("a", "b")), true);
  assert.equal(hintOf("Node")?.(pod("p"), declaring("a"), declaring("a")), false);
  const requiring = pod("p", CASES.UserNamespacesHostNetworkSupport);
  assert.equal(hintOf("TargetPod")?.(requiring, requiring, pod("p")), true);
  assert.equal(hintOf("TargetPod")?.(requiring, requiring, requiring), false);
});
