import assert from "node:assert/strict";
import { suite, test } from "node:test";
import { fc } from "../../../test/support/random.ts";
import { ApiError } from "../../base/api/api-error.ts";
import type { Json, JsonObject } from "../../base/api/object.ts";
import { builtInSchema } from "../../kinds/schema-files/built-in-schemas.ts";
import { strategicMerge } from "./strategic-merge.ts";
import { printGoValue } from "./strategic-print.ts";

const pod = builtInSchema("io.k8s.api.core.v1.Pod");
const podSpec = builtInSchema("io.k8s.api.core.v1.PodSpec");
const meta = builtInSchema("io.k8s.apimachinery.pkg.apis.meta.v1.ObjectMeta");

const named = (...names: string[]): Json[] => names.map((name) => ({ name }));
const inSpec = (containers: Json, patch: JsonObject): Json | undefined =>
  strategicMerge({ containers }, patch, podSpec).containers;
const namesOf = (list: Json | undefined): string =>
  Array.isArray(list) ? list.map((item) => (item as JsonObject).name).join(" ") : "";

suite("a strategic merge patch", () => {
  test("merges objects and removes members that are null", () => {
    const before = { metadata: { name: "p", labels: { a: "1", b: "2" } } };
    const after = strategicMerge(before, { metadata: { labels: { a: null, c: "3" }, annotations: { x: null } } }, pod);
    assert.deepEqual(after, { metadata: { name: "p", labels: { b: "2", c: "3" }, annotations: {} } });
  });

  test("merges lists of objects by key, new items first", () => {
    assert.deepEqual(inSpec([{ name: "a", image: "1" }, { name: "b" }], { containers: [{ name: "a", tty: true }] }), [
      { name: "a", image: "1", tty: true },
      { name: "b" },
    ]);
    assert.equal(namesOf(inSpec(named("a", "b"), { containers: named("c") })), "c a b");
    assert.equal(namesOf(inSpec(named("a", "b", "c"), { containers: named("c", "a") })), "b c a");
    assert.equal(namesOf(inSpec(named("a", "b", "c"), { containers: named("b", "x") })), "a b x c");
    assert.deepEqual(inSpec([], { containers: [{ name: "a" }, { name: "a", tty: true }] }), [{ name: "a", tty: true }]);
  });

  test("replaces lists without a strategy", () => {
    const before = { tolerations: [{ key: "a" }], containers: [{ name: "a", args: ["x"] }] };
    const patch = { tolerations: [{ key: "b" }], containers: [{ name: "a", args: ["y"] }] };
    assert.deepEqual(strategicMerge(before, patch, podSpec), patch);
  });

  test("deletes and replaces items", () => {
    const gone = { containers: [{ name: "a", $patch: "delete" }] };
    assert.equal(namesOf(inSpec(named("a", "b", "a"), gone)), "b");
    assert.equal(namesOf(inSpec(named("a", "b"), { containers: [{ $patch: "replace" }, { name: "z" }] })), "z");
    assert.deepEqual(inSpec(named("a"), { containers: [{ $patch: "replace" }] }), []);
    assert.deepEqual(strategicMerge({}, gone, podSpec), { containers: [] });
  });

  test("replaces and empties objects", () => {
    const before = { nodeSelector: { a: "1" } };
    const patch = (directive: string) => ({ nodeSelector: { $patch: directive, b: "2" } });
    assert.deepEqual(strategicMerge(before, patch("replace"), podSpec), { nodeSelector: { b: "2" } });
    assert.deepEqual(strategicMerge(before, patch("delete"), podSpec), { nodeSelector: {} });
    assert.deepEqual(strategicMerge({}, patch("replace"), podSpec), {});
    assert.deepEqual(strategicMerge({ a: 1 }, { $patch: "delete" }, pod), {});
  });

  test("retains only the keys it names", () => {
    const before = { volumes: [{ name: "v", emptyDir: {} }] };
    const volume = { name: "v", $retainKeys: ["name", "hostPath"], hostPath: { path: "/h" } };
    assert.deepEqual(strategicMerge(before, { volumes: [volume] }, podSpec), {
      volumes: [{ name: "v", hostPath: { path: "/h" } }],
    });
    const wrong = { volumes: [{ name: "v", $retainKeys: ["name"], hostPath: {} }] };
    const refusal = { code: 400, message: "invalid patch format of retainKeys" };
    assert.throws(() => strategicMerge(before, wrong, podSpec), refusal);
    assert.throws(() => strategicMerge(before, { $retainKeys: "type" }, podSpec), refusal);
  });

  test("merges, deletes and orders scalars", () => {
    const finalizers = (before: Json, patch: JsonObject) =>
      strategicMerge({ finalizers: before }, patch, meta).finalizers;
    assert.deepEqual(finalizers(["a", "b"], { finalizers: ["c", "b"] }), ["c", "a", "b"]);
    assert.deepEqual(finalizers(["a", "b"], { "$deleteFromPrimitiveList/finalizers": ["a", "x"] }), ["b"]);
    assert.deepEqual(finalizers(["a", "b"], { "$setElementOrder/finalizers": ["b", "a"] }), ["b", "a"]);
    assert.deepEqual(finalizers(["b"], { "$setElementOrder/finalizers": ["c", "b"], finalizers: ["c"] }), ["c", "b"]);
    assert.deepEqual(strategicMerge({}, { "$deleteFromPrimitiveList/finalizers": ["a"] }, meta), {});
  });

  test("orders items", () => {
    const order = (before: string[], wanted: string[], items: Json[] = []) =>
      namesOf(
        inSpec(named(...before), {
          "$setElementOrder/containers": named(...wanted),
          ...(items.length > 0 ? { containers: items } : {}),
        }),
      );
    assert.equal(order(["a", "b"], ["b", "a"]), "b a");
    assert.equal(order(["a", "b", "c"], ["c", "a"]), "b c a");
    assert.equal(order(["a", "b"], ["x", "b", "a"], named("x")), "x b a");
    assert.equal(order(["a", "b"], ["b", "a"], [{ name: "a", $patch: "delete" }]), "b");
    assert.throws(() => order(["a"], ["a", "none"], named("b")), {
      code: 500,
      message:
        "The order in patch list:\n[map[name:b]]\n doesn't match $setElementOrder list:\n[map[name:a] map[name:none]]\n",
    });
  });

  const refused: readonly (readonly [code: number, message: string, before: JsonObject, patch: Json])[] = [
    [
      500,
      "map: map[image:i:1] does not contain declared merge key: name",
      { containers: named("a") },
      { containers: [{ image: "i:1" }] },
    ],
    [
      500,
      "map: map[$patch:delete] does not contain declared merge key: name",
      { containers: named("a") },
      { containers: [{ $patch: "delete" }] },
    ],
    [500, "unknown patch type: nonsense in map: map[$patch:nonsense]", {}, { $patch: "nonsense" }],
    [500, "unknown patch type: %!s(int64=7) in map: map[$patch:7]", {}, { $patch: 7 }],
    [
      500,
      "merging lists cannot yet be specified in the patch",
      { containers: named("a") },
      { containers: [{ $patch: "merge" }] },
    ],
    [
      500,
      "list element types are not identical: [[map[name:a]] [main]]",
      { containers: named("a") },
      { containers: ["main"] },
    ],
    [422, "the server rejected our request due to an error in our request", { containers: [] }, { containers: [[]] }],
    [400, "invalid patch format of primitive list", {}, { $deleteFromPrimitiveList: ["a"] }],
    [400, "invalid patch format of setElementOrder list", {}, { $setElementOrder: [] }],
    [500, "expected a []interface {}, but received a string", {}, { "$setElementOrder/containers": "a" }],
    [500, 'unable to find api field in struct PodSpec for the json field "none"', {}, { "$setElementOrder/none": [] }],
    [500, "expected slice or array type, but got: struct", {}, { "$setElementOrder/hostNetwork": [] }],
    [400, "json: cannot unmarshal array into Go value of type map[string]interface {}", {}, []],
  ];
  for (const [code, message, before, patch] of refused) {
    test(`is rejected: ${message.replaceAll("\n", " ")}`, () => {
      assert.throws(() => strategicMerge(before, patch, podSpec), { code, message });
    });
  }

  test("prints values like Go", () => {
    assert.equal(printGoValue({ b: [1, "x", null], a: { c: true } }), "map[a:map[c:true] b:[1 x <nil>]]");
  });

  const name = fc.constantFrom("a", "b", "c", "d");
  const env = fc.uniqueArray(fc.record({ name, value: fc.string() }), { selector: (one) => one.name });
  const container = fc.record({ name, image: fc.string(), env }, { requiredKeys: ["name"] });
  const spec = fc
    .record(
      {
        containers: fc.uniqueArray(container, { selector: (one) => one.name }),
        nodeSelector: fc.dictionary(fc.constantFrom("a", "__proto__", "toString"), fc.string(), {
          noNullPrototype: true,
        }),
        hostNetwork: fc.boolean(),
      },
      { requiredKeys: [] },
    )
    .map((value): JsonObject => JSON.parse(JSON.stringify(value)));

  test("changes nothing if empty, is idempotent, and does not modify its arguments", () => {
    fc.assert(
      fc.property(spec, spec, (before, patch) => {
        const shown = JSON.stringify([before, patch]);
        assert.deepEqual(strategicMerge(before, {}, podSpec), before);
        assert.deepEqual(strategicMerge(before, before, podSpec), before);
        const once = strategicMerge(before, patch, podSpec);
        assert.deepEqual(strategicMerge(once, patch, podSpec), once);
        assert.equal(JSON.stringify([before, patch]), shown);
      }),
    );
  });

  test("with $setElementOrder results in exactly that list", () => {
    const list = fc.uniqueArray(container, { selector: (one) => one.name, minLength: 1 }) as fc.Arbitrary<JsonObject[]>;
    fc.assert(
      fc.property(list, list, (before, after) => {
        const kept = new Set(after.map((item) => item.name));
        const deletions = before
          .filter((item) => !kept.has(item.name))
          .map((item) => ({ name: item.name, $patch: "delete" }));
        const patch = {
          "$setElementOrder/containers": after.map((item) => ({ name: item.name })),
          containers: [...after.map((item) => ({ ...item })), ...deletions],
        };
        const merged = inSpec(before, patch as JsonObject);
        assert.equal(namesOf(merged), namesOf(after));
      }),
    );
  });

  test("rejects malformed patches with an ApiError", () => {
    const member = fc.constantFrom(
      "containers",
      "nodeSelector",
      "$patch",
      "$retainKeys",
      "$setElementOrder/containers",
      "name",
      "env",
      "$deleteFromPrimitiveList/args",
      "args",
      "__proto__",
      "volumes",
      "securityContext",
    );
    const { tree } = fc.letrec<{ tree: Json; object: JsonObject }>((tie) => ({
      tree: fc.oneof(
        { maxDepth: 5 },
        fc.constantFrom<Json>(null, "delete", "replace", "merge", "a", 1, 1.5, true),
        fc.array(tie("tree"), { maxLength: 3 }),
        tie("object"),
      ),
      object: fc.dictionary(member, tie("tree"), { maxKeys: 4 }) as fc.Arbitrary<JsonObject>,
    }));
    fc.assert(
      fc.property(fc.dictionary(member, tree) as fc.Arbitrary<JsonObject>, spec, tree, (_, before, patch) => {
        try {
          strategicMerge(before, patch, podSpec);
        } catch (error) {
          assert.ok(error instanceof ApiError, String(error));
        }
      }),
      { numRuns: 500 },
    );
  });
});
