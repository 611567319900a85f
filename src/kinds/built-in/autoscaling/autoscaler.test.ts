import assert from "node:assert/strict";
import { test } from "node:test";
import { fc } from "../../../../test/support/random.ts";
import type { JsonObject, KubeObject } from "../../../base/api/object.ts";
import { kindUnderTest } from "../kind.suite.ts";
import { convertAutoscaler } from "./conversion.ts";
import { autoscalingKinds } from "./group.ts";

const autoscaler = kindUnderTest(autoscalingKinds, "HorizontalPodAutoscaler");
const target = { apiVersion: "apps/v1", kind: "Deployment", name: "d" };
const body = (spec: JsonObject = {}): JsonObject => ({ spec: { scaleTargetRef: target, maxReplicas: 5, ...spec } });
const cpu = (averageUtilization: number): JsonObject => ({
  type: "Resource",
  resource: { name: "cpu", target: { type: "Utilization", averageUtilization } },
});
const specOf = (object: KubeObject) => object.spec as JsonObject;
const asV1 = (object: KubeObject) => convertAutoscaler(object, "autoscaling/v1");
const asV2 = (object: KubeObject) => convertAutoscaler(object, "autoscaling/v2");

test("sets defaults of an autoscaler", () => {
  const { minReplicas, metrics, behavior } = specOf(autoscaler.complete(body({ behavior: { scaleDown: {} } })));
  assert.equal(minReplicas, 1);
  assert.deepEqual(metrics, [cpu(80)]);
  const pods = { type: "Pods", value: 4, periodSeconds: 15 };
  const percent = { type: "Percent", value: 100, periodSeconds: 15 };
  assert.deepEqual(behavior, {
    scaleUp: { stabilizationWindowSeconds: 0, selectPolicy: "Max", policies: [pods, percent] },
    scaleDown: { selectPolicy: "Max", policies: [percent] },
  });
  assert.equal(specOf(autoscaler.complete(body(), "v1")).targetCPUUtilizationPercentage, 80);
});

test("rejects an invalid autoscaler with field paths of v2", () => {
  const rows: [spec: JsonObject, expected: readonly string[]][] = [
    [{}, []],
    [
      { maxReplicas: 0 },
      [
        "spec.maxReplicas: Invalid value: 0: must be greater than or equal to `minReplicas`",
        "spec.maxReplicas: Required value",
      ],
    ],
    [
      { minReplicas: 0 },
      [
        "spec.metrics: Forbidden: must specify at least one Object or External metric to support scaling to zero replicas",
      ],
    ],
    [
      { scaleTargetRef: { kind: "Deployment", name: "a/b" } },
      [
        "spec.scaleTargetRef.name: Invalid value: \"a/b\": may not contain '/'",
        'spec.scaleTargetRef.apiVersion: Invalid value: "": apiVersion must specify API group',
      ],
    ],
    [
      { metrics: [{ type: "Pods", resource: { name: "cpu", target: { type: "Value" } } }] },
      [
        "spec.metrics[0].resource.target.averageUtilization: Required value: must set either a target raw value or a target utilization",
        "spec.metrics[0].pods: Required value: must populate information for the given metric source",
      ],
    ],
    [
      { behavior: { scaleUp: { policies: [{ type: "X", value: 0, periodSeconds: 2000 }] } } },
      [
        'spec.behavior.scaleUp.policies[0].type: Unsupported value: "X": supported values: "Percent", "Pods"',
        "spec.behavior.scaleUp.policies[0].value: Invalid value: 0: must be greater than zero",
        "spec.behavior.scaleUp.policies[0].periodSeconds: Invalid value: 2000: must be less than or equal to 1800",
      ],
    ],
  ];
  for (const [spec, expected] of rows) assert.deepEqual(autoscaler.problems(body(spec)), expected);
});

test("v1 keeps fields that it lacks in annotations", () => {
  const metrics = [
    cpu(60),
    { type: "Pods", pods: { metric: { name: "<rps>" }, target: { type: "AverageValue", averageValue: "10" } } },
  ];
  const stored = autoscaler.created(body({ metrics, behavior: { scaleDown: { selectPolicy: "Disabled" } } }));
  const old = asV1(stored);
  assert.equal(specOf(old).targetCPUUtilizationPercentage, 60);
  assert.equal(specOf(old).metrics, undefined);
  const prefix = "autoscaling.alpha.kubernetes.io";
  assert.equal(
    old.metadata.annotations?.[`${prefix}/metrics`],
    '[{"type":"Pods","pods":{"metricName":"\\u003crps\\u003e","targetAverageValue":"10"}}]',
  );
  assert.match(
    old.metadata.annotations?.[`${prefix}/behavior`] ?? "",
    /^\{"ScaleUp":\{"StabilizationWindowSeconds":0,.*"Tolerance":null\}\}$/,
  );
  const garbled = { ...old, metadata: { ...old.metadata, annotations: { [`${prefix}/metrics`]: "[{", keep: "me" } } };
  assert.deepEqual(specOf(asV2(garbled)).metrics, [cpu(60)]);
  assert.deepEqual(asV2(garbled).metadata.annotations, { keep: "me" });
});

const quantity = fc.constantFrom("1", "250m", "10Mi", "5");
const metric = fc.record({ name: fc.constantFrom("a", "b<c") }, { requiredKeys: ["name"] });
const reference = fc.constantFrom(
  { kind: "Service", name: "s" },
  { kind: "Ingress", name: "i", apiVersion: "networking.k8s.io/v1" },
);
const value = fc.record({ type: fc.constant("Value"), value: quantity });
const average = fc.record({ type: fc.constant("AverageValue"), averageValue: quantity });
const utilization = fc.record({
  type: fc.constant("Utilization"),
  averageUtilization: fc.integer({ min: 1, max: 99 }),
});
const metrics = fc.array(
  fc.oneof(
    fc.record({ type: fc.constant("Pods"), pods: fc.record({ metric, target: average }) }),
    fc.record({
      type: fc.constant("Object"),
      object: fc.record({ describedObject: reference, metric, target: fc.oneof(value, average) }),
    }),
    fc.record({ type: fc.constant("External"), external: fc.record({ metric, target: fc.oneof(value, average) }) }),
    fc.record({
      type: fc.constant("Resource"),
      resource: fc.record({ name: fc.constant("memory"), target: fc.oneof(utilization, average) }),
    }),
    fc.record({
      type: fc.constant("ContainerResource"),
      containerResource: fc.record({
        name: fc.constant("cpu"),
        container: fc.constant("main"),
        target: fc.oneof(utilization, average),
      }),
    }),
  ),
  { maxLength: 4 },
);
const rules = fc.record(
  {
    stabilizationWindowSeconds: fc.integer({ min: 0, max: 9 }),
    selectPolicy: fc.constantFrom("Min", "Max"),
    tolerance: fc.constant("100m"),
  },
  { requiredKeys: [] },
);
const behavior = fc.option(fc.record({ scaleUp: rules, scaleDown: rules }, { requiredKeys: [] }), { nil: undefined });

test("loses nothing on the way from v2 through v1 and back", () => {
  const run = fc.property(
    metrics,
    behavior,
    fc.option(fc.integer({ min: 1, max: 99 }), { nil: undefined }),
    (others, how, share) => {
      // Compat: v1 has a field for it, targetCPUUtilizationPercentage, so the cpu metric comes last on the way back.
      const all = [...others, ...(share === undefined ? [] : [cpu(share)])];
      const spec = { metrics: all, ...(how === undefined ? {} : { behavior: how }) };
      const stored = autoscaler.created({
        ...body(spec as unknown as JsonObject),
        metadata: { annotations: { a: "b" } },
      });
      const back = asV2(asV1(stored));
      assert.deepEqual(back, stored);
      assert.deepEqual(asV1(back), asV1(stored));
    },
  );
  fc.assert(run, { numRuns: 300 });
});
