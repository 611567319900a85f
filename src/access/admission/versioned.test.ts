import assert from "node:assert/strict";
import { test } from "node:test";
import type { KubeObject } from "../../base/api/object.ts";
import { World } from "./admission.suite.ts";
import { AdmissionChain } from "./chain.ts";
import type { AdmissionPlugin } from "./plugin.ts";
import { Reinvocation } from "./reinvocation.ts";
import { inVersion, replaceObject } from "./versioned.ts";

const scaler = (): KubeObject => ({
  apiVersion: "autoscaling/v2",
  kind: "HorizontalPodAutoscaler",
  metadata: { name: "h", namespace: "ns", labels: {} },
  spec: { scaleTargetRef: { kind: "Deployment", name: "d", apiVersion: "apps/v1" }, maxReplicas: 3 },
});

test("converts objects to another version, without empty maps", async () => {
  const request = new World().request({ group: "autoscaling", plural: "horizontalpodautoscalers", object: scaler() });
  const { object, previous } = await inVersion({ ...request, holdsEmpties: true }, "autoscaling/v1");
  assert.equal(object?.apiVersion, "autoscaling/v1");
  assert.deepEqual(Object.keys(object?.metadata ?? {}).sort(), ["name", "namespace"]);
  assert.equal(previous, undefined);
});

test("decodes a replaced object in its version, sets defaults and converts it back", async () => {
  const world = new World();
  const object = scaler();
  const request = world.request({ group: "autoscaling", plural: "horizontalpodautoscalers", object });
  const next = structuredClone((await inVersion(request, "autoscaling/v1")).object) as KubeObject;
  next.spec = { ...(next.spec as object), maxReplicas: 5, unknown: true };
  await replaceObject(request, next, world.resources);
  assert.equal(request.object, object);
  assert.equal(object.apiVersion, "autoscaling/v2");
  const { minReplicas, maxReplicas, unknown } = object.spec as Record<string, unknown>;
  assert.deepEqual({ minReplicas, maxReplicas, unknown }, { minReplicas: 1, maxReplicas: 5, unknown: undefined });
  const broken = { ...scaler(), spec: { maxReplicas: "many" } };
  assert.throws(() => replaceObject(request, broken, world.resources), /cannot unmarshal string/);
});

test("mutating admission has a second round if a plugin requests it, and no third", async () => {
  const rounds: string[] = [];
  const round = (name: string): AdmissionPlugin => ({
    name,
    handles: () => true,
    async mutate(request) {
      rounds.push(`${name} ${request.reinvocation?.isReinvoke ?? false}`);
      request.reinvocation ??= new Reinvocation();
      const count = request.reinvocation.note(name, () => ({ calls: 0 }));
      count.calls += 1;
      assert.equal(count.calls, request.reinvocation.isReinvoke ? 2 : 1);
      if (name === "B") request.reinvocation.request();
    },
  });
  const request = new World().request({ plural: "pods", object: { ...scaler(), kind: "Pod", apiVersion: "v1" } });
  await new AdmissionChain([round("A"), round("B")]).mutate(request);
  assert.deepEqual(rounds, ["A false", "B false", "A true", "B true"]);
});
