import assert from "node:assert/strict";
import { suite, test } from "node:test";
import { fc } from "../../../test/support/random.ts";
import { ApiError } from "../../base/api/api-error.ts";
import type { Json } from "../../base/api/object.ts";
import { Meter, metered, TooCostly } from "../../base/util/meter.ts";
import { duplicatesInDocument, jsonPatch, parseJsonPatch } from "./json-patch.ts";

const apply = (current: Json, operations: Json): Json => jsonPatch(current, parseJsonPatch(operations, true));

function refusal(run: () => unknown): { code: number; message: string } {
  try {
    run();
  } catch (error) {
    assert.ok(error instanceof ApiError, String(error));
    return { code: error.code, message: error.message };
  }
  assert.fail("no error was thrown");
}

const REJECTED = { code: 422, message: "the server rejected our request due to an error in our request" };

suite("a JSON patch", () => {
  const cases: readonly (readonly [title: string, before: Json, operations: Json, after: Json])[] = [
    ["adds a member", { a: 1 }, [{ op: "add", path: "/b", value: 2 }], { a: 1, b: 2 }],
    ["overwrites with add", { a: 1 }, [{ op: "add", path: "/a", value: 2 }], { a: 2 }],
    ["adds null without a value", { a: 1 }, [{ op: "add", path: "/b" }], { a: 1, b: null }],
    ["adds a member that replace does not find", {}, [{ op: "replace", path: "/a", value: 1 }], { a: 1 }],
    ["removes", { a: 1, b: 2 }, [{ op: "remove", path: "/a" }], { b: 2 }],
    ["moves", { a: { b: 1 } }, [{ op: "move", from: "/a/b", path: "/c" }], { a: {}, c: 1 }],
    ["copies", { a: [1] }, [{ op: "copy", from: "/a", path: "/b" }], { a: [1], b: [1] }],
    ["copies null from a missing member", {}, [{ op: "copy", from: "/a", path: "/b" }], { b: null }],
    ["tests that a member is missing", { a: 1 }, [{ op: "test", path: "/b", value: null }], { a: 1 }],
    ["ignores text before the first slash", {}, [{ op: "add", path: "data/v", value: 1 }], { v: 1 }],
    ["unescapes in one pass", { "~1": 0 }, [{ op: "replace", path: "/~01", value: 1 }], { "~1": 1 }],
    ["unescapes a slash", { "a/b": 0 }, [{ op: "replace", path: "/a~1b", value: 1 }], { "a/b": 1 }],
    ["appends", { a: [1] }, [{ op: "add", path: "/a/-", value: 2 }], { a: [1, 2] }],
    ["inserts", { a: [1, 3] }, [{ op: "add", path: "/a/1", value: 2 }], { a: [1, 2, 3] }],
    ["supports negative indices", { a: [1, 2, 3] }, [{ op: "replace", path: "/a/-1", value: 9 }], { a: [1, 2, 9] }],
    ["appends at -1", { a: [1, 2] }, [{ op: "add", path: "/a/-1", value: 3 }], { a: [1, 2, 3] }],
    ["removes from the end", { a: [1, 2, 3] }, [{ op: "remove", path: "/a/-3" }], { a: [2, 3] }],
    ["accepts leading zeros of an index", { a: [1, 2] }, [{ op: "remove", path: "/a/01" }], { a: [1] }],
    ["changes items of lists", { a: [{ b: 1 }] }, [{ op: "add", path: "/a/0/c", value: 2 }], { a: [{ b: 1, c: 2 }] }],
    ["replaces the document", { a: 1 }, [{ op: "replace", path: "", value: { b: 2 } }], { b: 2 }],
    ["tests the document", { a: 1 }, [{ op: "test", path: "", value: { a: 1 } }], { a: 1 }],
    ["supports an empty name", { "": 1 }, [{ op: "replace", path: "/", value: 2 }], { "": 2 }],
    ["null changes nothing", { a: 1 }, null, { a: 1 }],
    [
      "keeps copies apart",
      { a: { x: 1 } },
      [
        { op: "copy", from: "/a", path: "/b" },
        { op: "replace", path: "/b/x", value: 2 },
        { op: "replace", path: "/a/x", value: 3 },
      ],
      { a: { x: 3 }, b: { x: 2 } },
    ],
  ];
  for (const [title, before, operations, after] of cases) {
    test(title, () => assert.deepEqual(apply(before, operations), after));
  }

  const failing: readonly (readonly [title: string, before: Json, operation: Json])[] = [
    ["a missing parent", {}, { op: "add", path: "/a/b", value: 1 }],
    ["a parent that is null", { a: null }, { op: "add", path: "/a/b", value: 1 }],
    ["a parent that is text", { a: "x" }, { op: "add", path: "/a/b", value: 1 }],
    ["removing nothing", {}, { op: "remove", path: "/a" }],
    ["removing an inherited member", {}, { op: "remove", path: "/constructor" }],
    ["moving nothing", {}, { op: "move", from: "/a", path: "/b" }],
    ["an index beyond the end", { a: [1] }, { op: "add", path: "/a/2", value: 1 }],
    ["an index before the start", { a: [1] }, { op: "remove", path: "/a/-2" }],
    ["an index that is not a number", { a: [1] }, { op: "add", path: "/a/x", value: 1 }],
    ["a dash that is not the end", { a: [1] }, { op: "replace", path: "/a/-", value: 1 }],
    ["a test that fails", { a: 1 }, { op: "test", path: "/a", value: 2 }],
    ["a test of other types", { a: 1 }, { op: "test", path: "/a", value: "1" }],
    ["a test without a value", { a: 1 }, { op: "test", path: "/a" }],
    ["an unknown operation", {}, { op: "increment", path: "/a" }],
    ["no operation", {}, { path: "/a" }],
    ["null as operation", {}, null],
    ["no path", {}, { op: "add", value: 1 }],
    ["a path without slash", {}, { op: "add", path: "a", value: 1 }],
    ["a document that is text", {}, { op: "replace", path: "", value: "x" }],
  ];
  for (const [title, before, operation] of failing) {
    test(`is rejected for ${title}`, () =>
      assert.deepEqual(
        refusal(() => apply(before, [operation])),
        REJECTED,
      ));
  }

  test("is rejected as a whole if malformed", () => {
    const wrong = (body: Json, isChecked: boolean) => refusal(() => parseJsonPatch(body, isChecked));
    assert.deepEqual(wrong({}, true), {
      code: 400,
      message: "error decoding patch: json: cannot unmarshal object into Go value of type []handlers.jsonPatchOp",
    });
    assert.equal(wrong("x", false).message, "json: cannot unmarshal string into Go value of type jsonpatch.Patch");
    assert.equal(wrong([7], false).message, "json: cannot unmarshal number into Go value of type jsonpatch.Operation");
    assert.equal(
      wrong([{ op: 7 }], true).message,
      "error decoding patch: json: cannot unmarshal number into Go struct field jsonPatchOp.op of type string",
    );
    assert.deepEqual(
      refusal(() => apply({}, [{ op: "test", path: "/a", from: null }, {}])),
      REJECTED,
    );
    assert.deepEqual(wrong(new Array(10_001).fill({ op: "test", path: "/a" }), true), {
      code: 413,
      message: "Request entity too large: The allowed maximum operations in a JSON patch is 10000, got 10001",
    });
  });

  test("reports unknown members of operations", () => {
    const { unknownMembers } = parseJsonPatch(
      [
        { op: "test", path: "/a" },
        { op: "test", path: "/a", foo: 1 },
      ],
      true,
    );
    assert.deepEqual(unknownMembers, ['json patch unknown field "[1].foo"']);
    assert.deepEqual(parseJsonPatch([{ foo: 1 }], false).unknownMembers, []);
  });

  test("reports the resulting paths of duplicate members", () => {
    const patch = parseJsonPatch([{ op: "add", path: "/metadata/annotations", value: {} }, { op: "remove" }], true);
    const texts = ['duplicate field "[0].value.d"', 'duplicate field "[0].op"', 'duplicate field "[1].value.d"'];
    assert.deepEqual(duplicatesInDocument(patch, texts), ['duplicate field "metadata.annotations.d"']);
  });

  test("limits the growth of the document", () => {
    const before = { a: ["x".repeat(1000)] };
    const double = { op: "copy", from: "/a", path: "/a/-" };
    assert.deepEqual(
      refusal(() => apply(before, new Array(20).fill(double))),
      REJECTED,
    );
  });

  test("limits the nesting of the document", () => {
    const deeper = { op: "copy", from: "/a", path: "/a/a" };
    assert.deepEqual(
      refusal(() => apply({ a: {} }, new Array(5000).fill(deeper))),
      REJECTED,
    );
    const nest = Array.from({ length: 1100 }, (_, depth) => ({ op: "add", path: "/a".repeat(depth + 1), value: {} }));
    assert.deepEqual(
      refusal(() => apply({}, nest)),
      REJECTED,
    );
  });

  test("treats __proto__ as any other name", () => {
    const before = JSON.parse('{"__proto__":{"a":1}}');
    const after = apply(before, [
      { op: "test", path: "/__proto__/a", value: 1 },
      { op: "add", path: "/__proto__/b", value: 2 },
      { op: "copy", from: "/__proto__", path: "/c" },
    ]);
    assert.equal(JSON.stringify(after), '{"__proto__":{"a":1,"b":2},"c":{"a":1,"b":2}}');
    assert.equal(({} as { b?: unknown }).b, undefined);
    assert.deepEqual(
      refusal(() => apply({}, [{ op: "add", path: "/__proto__/x", value: 1 }])),
      REJECTED,
    );
  });

  test("does not modify the object or the operations", () => {
    const path = fc.constantFrom("/a", "/b", "/a/x", "/a/0", "/a/-", "/b/x", "/b/x/y");
    const operation = fc.record({
      op: fc.constantFrom("add", "remove", "replace", "move", "copy"),
      path,
      from: path,
      value: fc.jsonValue() as fc.Arbitrary<Json>,
    });
    const document = fc.record({ a: fc.array(fc.jsonValue()), b: fc.dictionary(fc.string(), fc.jsonValue()) });
    fc.assert(
      fc.property(document as fc.Arbitrary<Json>, fc.array(operation), (before, operations) => {
        const shown = JSON.stringify([before, operations]);
        try {
          apply(before, operations);
        } catch (error) {
          assert.ok(error instanceof ApiError, String(error));
        }
        assert.equal(JSON.stringify([before, operations]), shown);
      }),
    );
  });
});

suite("the meter of a JSON patch", () => {
  const UNITS = 200_000;
  const list = Array.from({ length: 300 }, (_, index) => ({ index }));
  const patched = (operations: Json) => metered(new Meter(UNITS), () => apply({ a: list, b: {} }, operations));
  const many = (count: number, operation: (index: number) => Json): Json =>
    Array.from({ length: count }, (_, index) => operation(index));

  for (const [title, operations] of [
    ["copies that double a value", many(10, (index) => ({ op: "copy", from: "/b", path: `/b/c${index}` }))],
    ["tests of a long list", many(1000, () => ({ op: "test", path: "/a", value: structuredClone(list) }))],
    ["moves of all items of a list", many(9000, () => ({ op: "add", path: "/a/0", value: 1 }))],
  ] as const) {
    test(`ends ${title}`, () => {
      const start: Json = [{ op: "add", path: "/b/list", value: list }];
      assert.throws(() => patched([...start, ...(operations as Json[])]), TooCostly);
    });
  }

  test("lets an ordinary patch pass", () => {
    const operations = [
      { op: "test", path: "/a", value: list },
      { op: "copy", from: "/a/0", path: "/b/first" },
      { op: "remove", path: "/a/0" },
    ];
    assert.deepEqual(patched(operations), { a: list.slice(1), b: { first: { index: 0 } } });
  });
});
