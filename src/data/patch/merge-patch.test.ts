import assert from "node:assert/strict";
import { suite, test } from "node:test";
import { fc } from "../../../test/support/random.ts";
import { isObject, type Json, type JsonObject } from "../../base/api/object.ts";
import { mergePatch } from "./merge-patch.ts";

suite("a merge patch", () => {
  const cases: readonly (readonly [title: string, before: Json, patch: Json, after: Json])[] = [
    ["adds", { a: { b: 1 } }, { a: { c: 2 } }, { a: { b: 1, c: 2 } }],
    ["removes", { a: 1, b: 2 }, { a: null }, { b: 2 }],
    ["ignores the removal of a missing member", { a: 1 }, { b: null }, { a: 1 }],
    ["replaces lists", { a: [1, 2] }, { a: [3] }, { a: [3] }],
    ["drops nulls from added objects", {}, { a: { b: null, c: { d: null } } }, { a: { c: {} } }],
    ["drops nulls in the objects of a list", { a: 1 }, { a: [{ b: null }, null] }, { a: [{}, null] }],
    ["keeps nulls in a list that replaces an object", { a: {} }, { a: [{ b: null }] }, { a: [{ b: null }] }],
    ["replaces an object by text", { a: { b: 1 } }, { a: "x" }, { a: "x" }],
    ["replaces text by an object", { a: "x" }, { a: { b: 1, c: null } }, { a: { b: 1 } }],
    ["ignores inherited members", {}, { constructor: { a: 1 } }, { constructor: { a: 1 } }],
  ];
  for (const [title, before, patch, after] of cases) {
    test(title, () => assert.deepEqual(mergePatch(before, patch, true), after));
  }

  test("must be an object", () => {
    const decoding = "error decoding patch: json: cannot unmarshal";
    assert.throws(() => mergePatch({}, [], true), {
      code: 400,
      message: `${decoding} array into Go value of type map[string]interface {}`,
    });
    assert.throws(() => mergePatch({}, "text", true), {
      code: 400,
      message: `${decoding} string into Go value of type map[string]interface {}`,
    });
    assert.throws(() => mergePatch({}, null, true), { code: 400, message: "Invalid JSON Patch" });
    assert.throws(() => mergePatch({}, "text", false), { code: 400, message: "Invalid JSON Patch" });
    assert.deepEqual(mergePatch({}, [{ a: null }], false), [{}]);
  });

  test("treats __proto__ as any other name", () => {
    const after = mergePatch({ a: 1 }, JSON.parse('{"__proto__":{"b":{"c":null,"d":1}}}'), true);
    assert.equal(JSON.stringify(after), '{"a":1,"__proto__":{"b":{"d":1}}}');
    assert.equal(Object.getPrototypeOf(after), Object.prototype);
  });

  // Only lists of scalars: whether nulls inside lists are kept depends on what the list replaces.
  const name = fc.constantFrom("a", "b", "c", "__proto__", "toString");
  const { object } = fc.letrec<{ object: JsonObject; value: Json }>((tie) => ({
    object: fc.dictionary(name, tie("value"), { noNullPrototype: true }) as fc.Arbitrary<JsonObject>,
    value: fc.oneof(
      { maxDepth: 4 },
      fc.constantFrom<Json>(null, 1, "x", true),
      fc.array(fc.integer()),
      tie("object"),
    ) as fc.Arbitrary<Json>,
  }));

  test("changes nothing if empty, is idempotent, and does not modify its arguments", () => {
    fc.assert(
      fc.property(object, object, (before, patch) => {
        const shown = JSON.stringify([before, patch]);
        assert.deepEqual(mergePatch(before, {}, true), before);
        const once = mergePatch(before, patch, true);
        assert.deepEqual(mergePatch(once, patch, true), once);
        assert.equal(JSON.stringify([before, patch]), shown);
      }),
    );
  });

  test("converts any object without nulls to any other", () => {
    const clean = (value: Json): Json => {
      if (Array.isArray(value)) return value.map(clean);
      if (!isObject(value)) return value;
      return Object.fromEntries(
        Object.entries(value).flatMap(([key, one]) => (one === null ? [] : [[key, clean(one ?? null)]])),
      );
    };
    const diff = (before: Json | undefined, after: Json): Json => {
      if (!isObject(before) || !isObject(after)) return after;
      const gone = Object.keys(before).filter((member) => !Object.hasOwn(after, member));
      const kept = Object.entries(after).map(([member, value]): [string, Json] => [
        member,
        diff(Object.hasOwn(before, member) ? before[member] : undefined, value ?? null),
      ]);
      return Object.fromEntries([...gone.map((member): [string, Json] => [member, null]), ...kept]);
    };
    fc.assert(
      fc.property(object.map(clean), object.map(clean), (before, after) => {
        assert.deepEqual(mergePatch(before, diff(before, after), true), after);
      }),
    );
  });
});
