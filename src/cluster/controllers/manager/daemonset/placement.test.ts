import assert from "node:assert/strict";
import { suite, test } from "node:test";
import type { JsonObject } from "../../../../base/api/object.ts";
import type { Node, Taint } from "../../../../kinds/types/node.ts";
import type { PodSpec } from "../../../../kinds/types/pod.ts";
import { daemonTolerations, placementRule } from "./placement.ts";

const node = (taints: Taint[] = [], labels: Record<string, string> = {}): Node => ({
  kind: "Node",
  apiVersion: "v1",
  metadata: { name: "a", labels },
  spec: { taints },
});
const required = (...nodeSelectorTerms: JsonObject[]): PodSpec => ({
  affinity: { nodeAffinity: { requiredDuringSchedulingIgnoredDuringExecution: { nodeSelectorTerms } } },
});
const expression = (key: string, operator: string, ...values: string[]): PodSpec =>
  required({ matchExpressions: [{ key, operator, values }] });
const field = (operator: string, ...values: string[]): PodSpec =>
  required({ matchFields: [{ key: "metadata.name", operator, values }] });

suite("placementRule", () => {
  const size = { size: "5" };
  const cases: readonly (readonly [what: string, spec: PodSpec, node: Node, runs: boolean, continues?: boolean])[] = [
    ["nothing special", {}, node(), true],
    ["its nodeName", { nodeName: "a" }, node(), true],
    ["another nodeName", { nodeName: "b" }, node(), false],
    ["a matching nodeSelector", { nodeSelector: size }, node([], size), true],
    ["another nodeSelector", { nodeSelector: size }, node(), false],
    ["operator Gt", expression("size", "Gt", "4"), node([], size), true],
    ["operator Lt", expression("size", "Lt", "4"), node([], size), false],
    ["operator NotIn", expression("size", "NotIn", "4"), node([], size), true],
    ["operator DoesNotExist", expression("size", "DoesNotExist"), node([], size), false],
    ["an unknown operator", expression("size", "Other"), node([], size), false],
    ["its name as a field", field("In", "a"), node(), true],
    ["another name as a field", field("NotIn", "a"), node(), false],
    ["several names as a field", field("In", "a", "b"), node(), false],
    [
      "one matching term",
      required({}, { matchExpressions: [{ key: "size", operator: "Exists" }] }),
      node([], size),
      true,
    ],
    ["only an empty term", required({}), node(), false],
    ["a taint NoSchedule", {}, node([{ key: "k", effect: "NoSchedule" }]), false, true],
    ["a taint NoExecute", {}, node([{ key: "k", effect: "NoExecute" }]), false, false],
    ["a taint PreferNoSchedule", {}, node([{ key: "k", effect: "PreferNoSchedule" }]), true],
    [
      "a tolerated value",
      { tolerations: [{ key: "k", value: "v" }] },
      node([{ key: "k", value: "v", effect: "NoExecute" }]),
      true,
    ],
    [
      "another value",
      { tolerations: [{ key: "k", value: "w" }] },
      node([{ key: "k", value: "v", effect: "NoExecute" }]),
      false,
    ],
    ["a toleration of all", { tolerations: [{ operator: "Exists" }] }, node([{ key: "k", effect: "NoExecute" }]), true],
    ["an unschedulable node", {}, node([{ key: "node.kubernetes.io/unschedulable", effect: "NoSchedule" }]), true],
    [
      "a new node that is not ready",
      {},
      node([{ key: "node.kubernetes.io/not-ready", effect: "NoSchedule" }]),
      false,
      true,
    ],
    ["no network", {}, node([{ key: "node.kubernetes.io/network-unavailable", effect: "NoSchedule" }]), false, true],
    [
      "no network, on the host network",
      { hostNetwork: true },
      node([{ key: "node.kubernetes.io/network-unavailable", effect: "NoSchedule" }]),
      true,
    ],
  ];
  for (const [what, spec, on, shouldRun, shouldContinue = shouldRun] of cases) {
    test(`${shouldRun ? "runs" : "does not run"} with ${what}`, () => {
      assert.deepEqual(placementRule(spec)(on), { shouldRun, shouldContinue });
    });
  }
});

suite("daemonTolerations", () => {
  test("keeps those of the template, and extends the same ones forever", () => {
    const key = "node.kubernetes.io/not-ready";
    const limited = { key, operator: "Exists", effect: "NoExecute", tolerationSeconds: 5 };
    const [first, second, ...others] = daemonTolerations({ tolerations: [limited, { key: "own" }] });
    assert.deepEqual(first, { key, operator: "Exists", effect: "NoExecute" });
    assert.deepEqual(second, { key: "own" });
    assert.equal(others.length, 5);
  });
});
