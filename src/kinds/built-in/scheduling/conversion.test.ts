import assert from "node:assert/strict";
import { test } from "node:test";
import { fc } from "../../../../test/support/random.ts";
import { isObject, type JsonObject, type KubeObject } from "../../../base/api/object.ts";
import { eachObject, objectsOf } from "../random-objects.suite.ts";
import { convertPodGroup, convertWorkload, OLDER_VERSION, OLDEST_VERSION } from "./conversion.ts";

const STORED = "scheduling.k8s.io/v1beta1";
const componentOf = (version: string, kind: string) => `io.k8s.api.scheduling.${version}.${kind}`;

/** Gives all groups unique names and one disruption mode, and a workload either groups or a tree. */
function tidy(object: JsonObject): void {
  let count = 0;
  eachObject(object.spec, (part) => {
    if (typeof part.name === "string") part.name = `n${count++}`;
    const { disruptionMode } = part;
    if (isObject(disruptionMode)) part.disruptionMode = disruptionMode.all === undefined ? { single: {} } : { all: {} };
  });
  const { spec } = object;
  if (isObject(spec) && Array.isArray(spec.compositePodGroupTemplates) && spec.compositePodGroupTemplates.length > 0) {
    delete spec.podGroupTemplates;
  }
}

test("fields that older versions lack survive a write through them", () => {
  const workloads = objectsOf(componentOf("v1beta1", "Workload"), STORED, tidy);
  const groups = objectsOf(componentOf("v1beta1", "PodGroup"), STORED, tidy);
  fc.assert(
    fc.property(workloads, fc.constantFrom(OLDER_VERSION, OLDEST_VERSION), (stored, version) => {
      const before = structuredClone(stored);
      const shown = convertWorkload(stored, version);
      assert.deepEqual(convertWorkload(shown, STORED, stored), before);
      assert.deepEqual(stored, before, "the object given is left alone");
    }),
    { numRuns: 200 },
  );
  fc.assert(
    fc.property(groups, (stored) => {
      const shown = convertPodGroup(stored, OLDER_VERSION);
      assert.deepEqual(convertPodGroup(shown, STORED, stored), stored);
    }),
    { numRuns: 200 },
  );
});

test("an object written in an older version is read there unchanged", () => {
  const oldest = objectsOf(componentOf("v1alpha1", "Workload"), OLDEST_VERSION, tidy);
  const older = objectsOf(componentOf("v1alpha2", "Workload"), OLDER_VERSION, tidy);
  fc.assert(
    fc.property(fc.oneof(oldest, older), (object) => {
      assert.deepEqual(convertWorkload(convertWorkload(object, STORED), object.apiVersion), object);
    }),
    { numRuns: 200 },
  );
  // A reference without a workload is invalid; versions differ in how they could express it.
  const groups = objectsOf(componentOf("v1alpha2", "PodGroup"), OLDER_VERSION, ({ spec }) => {
    if (isObject(spec) && isObject(spec.podGroupTemplateRef)) spec.podGroupTemplateRef.workload ??= {};
  });
  fc.assert(
    fc.property(groups, (object) => {
      assert.deepEqual(convertPodGroup(convertPodGroup(object, STORED), OLDER_VERSION), object);
    }),
    { numRuns: 200 },
  );
});

test("older versions show the leaves of a tree, which only changes with them", () => {
  const leaf = (name: string) => ({ name, schedulingPolicy: { gang: { minCount: 2 } }, schedulingConstraints: null });
  const tree = [{ name: "t", schedulingPolicy: { basic: {} }, podGroupTemplates: [leaf("a"), leaf("b")] }];
  const spec = { podGroupTemplates: null, compositePodGroupTemplates: tree };
  const stored: KubeObject = { kind: "Workload", apiVersion: STORED, metadata: {}, spec };
  const shown = convertWorkload(stored, OLDEST_VERSION);
  const policy = { gang: { minCount: 2 } };
  const [a, b] = ["a", "b"].map((name) => ({ name, policy }));
  assert.deepEqual(shown.spec, { podGroups: [a, b] });
  const shortened: KubeObject = { ...shown, spec: { podGroups: [a as JsonObject] } };
  assert.deepEqual(convertWorkload(shortened, STORED, stored).spec, { podGroupTemplates: [leaf("a")] });
});
