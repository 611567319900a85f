import assert from "node:assert/strict";
import { test } from "node:test";
import { printQuantity } from "../../../api/quantity.ts";
import type { Container } from "../../../types/container.ts";
import type { PodSpec } from "../../../types/pod.ts";
import { aggregateResources, setPodLevelDefaults } from "./pod-level-resources.ts";
import { qosClassOf } from "./pod-qos.ts";

const full = { limits: { cpu: "1", memory: "1Gi" }, requests: { cpu: "1000m", memory: "1024Mi" } };

test("the class of a pod follows from its containers, or from itself when it says what it needs", () => {
  const cases: readonly [PodSpec, string][] = [
    [{ containers: [{}] }, "BestEffort"],
    [{ containers: [{ resources: full }] }, "Guaranteed"],
    [{ containers: [{ resources: full }, {}] }, "Burstable"],
    [{ containers: [{ resources: { requests: { cpu: "1" } } }] }, "Burstable"],
    [{ containers: [{ resources: full }], initContainers: [{}] }, "Burstable"],
    [{ containers: [{}], resources: full }, "Guaranteed"],
    [{ containers: [{ resources: { requests: { "ephemeral-storage": "1" } } }] }, "BestEffort"],
  ];
  for (const [spec, expected] of cases) assert.equal(qosClassOf(spec), expected, JSON.stringify(spec));
});

const needs = (cpu: string, extra: Container = {}): Container => ({ ...extra, resources: { requests: { cpu } } });

test("containers that run at the same time add up, those that come first do not", () => {
  const initContainers = [needs("3"), needs("1", { restartPolicy: "Always" }), needs("5")];
  const total = aggregateResources({ containers: [needs("1"), needs("500m")], initContainers }, "requests");
  assert.deepEqual(
    [...total].map(([name, amount]) => `${name}=${printQuantity(amount)}`),
    ["cpu=6"],
  );
});

test("what a pod needs as a whole is completed from its containers", () => {
  const spec: PodSpec = {
    containers: [{ resources: { requests: { cpu: "1" }, limits: { cpu: "2" } } }],
    resources: { limits: { memory: "1Gi" } },
  };
  setPodLevelDefaults(spec);
  assert.deepEqual(spec.resources, {
    limits: { cpu: "2", memory: "1Gi" },
    requests: { cpu: "1", memory: "1Gi" },
  });
});
