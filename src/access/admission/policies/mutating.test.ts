import assert from "node:assert/strict";
import { suite, type TestContext, test } from "node:test";
import type { KubeObject } from "../../../base/api/object.ts";
import { Meter, metered, TooCostly } from "../../../base/util/meter.ts";
import type { PolicySpec } from "../../../kinds/types/admission-registration.ts";
import { pod } from "../admission.suite.ts";
import { AdmissionChain } from "../chain.ts";
import { mutatingPolicies, mutatingSource } from "./mutating.ts";
import { unobservedPolicies } from "./observer.ts";
import { PolicyWorld } from "./policies.suite.ts";

const start = (t: TestContext) =>
  new PolicyWorld(t, {
    kind: "MutatingAdmissionPolicy",
    source: mutatingSource,
    plugin: (source, { resources }, authorizer) =>
      mutatingPolicies(source, { resources, authorizer, observer: unobservedPolicies }),
  });

const apply = (expression: string) => ({ patchType: "ApplyConfiguration", applyConfiguration: { expression } });
const patch = (expression: string) => ({ patchType: "JSONPatch", jsonPatch: { expression } });
const PREFIX = "policy 'p' with binding 'p' denied request: ";

async function mutated(t: TestContext, spec: PolicySpec, object: object = {}) {
  const world = start(t);
  await world.policy("p", { reinvocationPolicy: "Never", ...spec });
  return world.judge(object);
}

suite("MutatingAdmissionPolicy", () => {
  test("merges apply configurations like server-side apply", async (t) => {
    const expression = "Object{metadata: Object.metadata{labels: {'by': request.userInfo.username}}, data: {'b': '2'}}";
    const { object } = await mutated(t, { mutations: [apply(expression)] }, { data: { a: "1" } });
    assert.deepEqual(object?.metadata.labels, { by: "alice" });
    assert.deepEqual(object?.data, { a: "1", b: "2" });
  });

  test("applies JSON patches", async (t) => {
    const added = patch("[JSONPatch{op: 'add', path: '/data/' + jsonpatch.escapeKey('a/b'), value: string(1 + 1)}]");
    const { object } = await mutated(t, { mutations: [added] }, { data: {} });
    assert.deepEqual(object?.data, { "a/b": "2" });
  });

  test("sees the object as the previous policies left it", async (t) => {
    const mutations = [apply("Object{data: {'a': '1'}}"), apply("Object{data: {'b': object.data.a + '2'}}")];
    assert.deepEqual((await mutated(t, { mutations })).object?.data, { a: "1", b: "12" });
  });

  test("rejects mutations that do not fit the schema, name the wrong type, or are atomic", async (t) => {
    const refusal = async (expression: string, object?: object) =>
      (await mutated(t, { mutations: [apply(expression)] }, object)).refusal?.slice(PREFIX.length);
    assert.equal(
      await refusal("Object{spec: Object.spec{a: 1}}"),
      "error applying patch: failed to convert patch object to typed object: .spec: field not declared in schema",
    );
    assert.equal(
      await refusal("Object{metadata: Object.other{name: 'a'}}"),
      'type mismatch: unexpected type name "Object.other", expected "Object.metadata", which matches field name path from root Object type',
    );
    assert.equal(
      await refusal("Object{data: {'copy': object.data['missing']}}"),
      "expression 'Object{data: {'copy': object.data['missing']}}' resulted in error: no such key: data",
    );
  });

  test("sets defaults after every mutation, and merges lists by their keys", async (t) => {
    const world = start(t);
    const rule = { apiGroups: [""], apiVersions: ["*"], operations: ["*"], resources: ["pods"], scope: "*" };
    await world.policy("p", {
      matchConstraints: { resourceRules: [rule], namespaceSelector: {}, objectSelector: {} },
      reinvocationPolicy: "Never",
      mutations: [
        apply(`Object{spec: Object.spec{containers: [Object.spec.containers{name: "b", image: "b", ports: [
          Object.spec.containers.ports{containerPort: 80}]}]}}`),
      ],
    });
    const { object, refusal } = await world.judge({}, { plural: "pods", object: pod() });
    assert.equal(refusal, undefined);
    assert.ok(object);
    const { containers } = object.spec as { containers: { name: string; ports?: { protocol: string }[] }[] };
    assert.deepEqual(
      containers.map(({ name }) => name),
      ["a", "b"],
    );
    assert.equal(containers[1]?.ports?.[0]?.protocol, "TCP");
    const atomic = 'Object{spec: Object.spec{containers: [Object.spec.containers{name: "a", args: ["x"]}]}}';
    await world.policy("p", {
      matchConstraints: { resourceRules: [rule], namespaceSelector: {}, objectSelector: {} },
      reinvocationPolicy: "Never",
      mutations: [apply(atomic)],
    });
    assert.equal(
      (await world.judge({}, { plural: "pods", object: pod() })).refusal,
      `${PREFIX}error applying patch: invalid ApplyConfiguration: may not mutate atomic arrays, maps or structs: .spec.containers[0].args`,
    );
  });

  test("ignores failures with failurePolicy Ignore", async (t) => {
    const mutations = [apply("Object{data: {'a': object.data.missing}}"), apply("Object{data: {'b': '1'}}")];
    const { object, refusal } = await mutated(t, { mutations, failurePolicy: "Ignore" });
    assert.equal(refusal, undefined);
    assert.deepEqual(object?.data, { b: "1" });
  });

  test("evaluates a policy again after a later change with reinvocationPolicy IfNeeded", async (t) => {
    const count = (key: string, more: PolicySpec): PolicySpec => ({
      mutations: [
        apply(
          `Object{data: {'${key}': has(object.data) && '${key}' in object.data ? object.data['${key}'] + 'x' : 'x'}}`,
        ),
      ],
      ...more,
    });
    const world = start(t);
    await world.policy("a", count("a", { reinvocationPolicy: "IfNeeded" }));
    await world.policy("b", count("b", { reinvocationPolicy: "Never" }));
    const object = { apiVersion: "v1", kind: "ConfigMap", metadata: { name: "c", namespace: "ns" } } as KubeObject;
    await world.judge();
    await new AdmissionChain([world.plugin]).mutate(world.world.request({ plural: "configmaps", object }));
    assert.deepEqual(object.data, { a: "xx", b: "x" });
    await world.policy("b", count("b", { reinvocationPolicy: "IfNeeded" }));
    await world.judge();
    await new AdmissionChain([world.plugin]).mutate(world.world.request({ plural: "configmaps", object }));
    assert.deepEqual(object.data, { a: "xxxx", b: "xxx" });
  });

  test("charges the meter for the values that a mutation makes", async (t) => {
    const data = Object.fromEntries(Array.from({ length: 50 }, (_, index) => [`k${index}`, "v"]));
    const judged = (times: number) => {
      const tests = `lists.range(${times}).map(i, JSONPatch{op: 'test', path: '/data', value: object.data})`;
      return metered(new Meter(200_000), () => mutated(t, { mutations: [patch(tests)] }, { data }));
    };
    assert.deepEqual((await judged(2)).object?.data, data);
    await assert.rejects(judged(500), TooCostly);
  });
});
