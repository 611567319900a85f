import assert from "node:assert/strict";
import { test } from "node:test";
import { printQuantity } from "../../../../base/api/quantity.ts";
import type { Container } from "../../../types/container.ts";
import type { PodSpec } from "../../../types/pod.ts";
import { aggregateResources, setPodLevelDefaults } from "./pod-level-resources.ts";
import { qosClassOf } from "./pod-qos.ts";

const full = { limits: { cpu: "1", memory: "1Gi" }, requests: { cpu: "1000m", memory: "1024Mi" } };

test("computes the QOS class from containers, or from pod-level resources", () => {
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

test("adds containers that run at the same time, but not init containers", () => {
  const initContainers = [needs("3"), needs("1", { restartPolicy: "Always" }), needs("5")];
  const total = aggregateResources({ containers: [needs("1"), needs("500m")], initContainers }, "requests");
  assert.deepEqual(
    [...total].map(([name, amount]) => `${name}=${printQuantity(amount)}`),
    ["cpu=6"],
  );
});

test("defaults pod-level resources from containers", () => {
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
