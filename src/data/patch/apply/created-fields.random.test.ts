import assert from "node:assert/strict";
import { test } from "node:test";
import { fc } from "../../../../test/support/random.ts";
import type { Json, KubeObject } from "../../../base/api/object.ts";
import { builtInSchema } from "../../../kinds/schema-files/built-in-schemas.ts";
import type { TrackingScope } from "./scope.ts";
import { trackUpdate } from "./track-update.ts";

const newScope = (): TrackingScope => ({
  apiVersion: "v1",
  kind: "Pod",
  schemaOf: () => builtInSchema("io.k8s.api.core.v1.Pod"),
  convert: () => undefined,
});
const shared = newScope();
const create = (scope: TrackingScope, object: object) => {
  const next = { apiVersion: "v1", kind: "Pod", metadata: { name: "n" }, ...structuredClone(object) } as KubeObject;
  return trackUpdate(scope, { live: undefined, next, manager: "m", now: "2030-01-01T00:00:00Z" });
};
/** Asserts that earlier creates make no difference. */
const assertOwnedAsFirst = (object: object) => assert.deepEqual(create(shared, object), create(newScope(), object));

test("does not mix up objects that differ in what ownership depends on", () => {
  const container = (more: object) => ({ spec: { containers: [{ name: "c", ...more }] } });
  const objects = [
    ...[undefined, null, {}, { a: "" }, { a: "b" }, { b: "b" }, { a: "b", b: "b" }, { "a1:b": "b" }, { "": "s" }].map(
      (labels) => ({ metadata: { name: "n", labels } }),
    ),
    ...[undefined, null, "", 0, false, true, "x", 1].map((hostNetwork) => ({ spec: { hostNetwork } })),
    ...[[], ["a"], ["a", "b"], ["b", "a"], ["1:a"], ["ab"]].map((finalizers) => ({ metadata: { finalizers } })),
    ...[[], [{ name: "a" }], [{ name: "b" }], [{ name: "" }], [{ name: "a", value: "" }]].map((env) =>
      container({ env }),
    ),
    ...[80, 443].flatMap((containerPort) =>
      [undefined, "TCP", "UDP"].map((protocol) => container({ ports: [{ containerPort, protocol }] })),
    ),
    ...[[["a"]], [null], [{}], {}, "x"].map((containers) => ({ spec: { containers } })),
    container({ resources: { limits: { cpu: "1" } } }),
    container({ resources: { limits: {} } }),
    container({ args: ["a"] }),
    container({ args: [] }),
  ];
  for (const object of [...objects, ...objects.toReversed()]) assertOwnedAsFirst(object);
});

test("computes the ownership of a new object independently of earlier ones", () => {
  const word = fc.constantFrom("", "a", "name", "containers", "1:a", '"1:a', "}", "]");
  const { value } = fc.letrec<{ value: Json }>((tie) => ({
    value: fc.oneof(
      { maxDepth: 5 },
      fc.constantFrom<Json>(null, "", "a", "b", 0, 1, true, false),
      fc.array(tie("value"), { maxLength: 2 }),
      fc.dictionary(word, tie("value"), { maxKeys: 3 }),
    ),
  }));
  const container = fc.dictionary(fc.constantFrom("name", "image", "env", "ports", "resources"), value);
  const spec = fc.dictionary(fc.constantFrom("nodeSelector", "volumes", "tolerations", "hostNetwork"), value);
  fc.assert(
    fc.property(spec, fc.array(container, { maxLength: 2 }), fc.dictionary(word, value), (rest, containers, labels) => {
      assertOwnedAsFirst({ metadata: { name: "n", labels }, spec: { ...rest, containers } });
    }),
    { numRuns: 2000 },
  );
});

test("objects of the same structure share one set with cached JSON", () => {
  const createOf = (image: string) => create(shared, { metadata: { labels: { a: image } }, spec: { nodeName: image } });
  const { managedFields, creatorFields } = createOf("one");
  assert.equal(createOf("two").creatorFields, creatorFields);
  const [entry] = managedFields as { fieldsV1: Json }[];
  assert.equal(entry?.fieldsV1, creatorFields?.fields);
  assert.equal(creatorFields?.json, JSON.stringify(creatorFields?.fields));
  const large = create(shared, { metadata: { labels: { ["x".repeat(9000)]: "a" } } });
  assert.equal(large.creatorFields?.json, undefined);
});
