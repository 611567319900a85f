import assert from "node:assert/strict";
import { suite, test } from "node:test";
import { fc } from "../../../../test/support/random.ts";
import type { Schema } from "../../schema/schema.ts";
import {
  difference,
  EMPTY,
  type FieldSet,
  FieldSetError,
  fieldSetOf,
  has,
  holdsAll,
  intersection,
  isEmpty,
  leaves,
  type MutableFieldSet,
  parseFieldSet,
  pathsOf,
  recursiveDifference,
  sameSet,
  union,
  withNamedFields,
} from "./field-set.ts";
import { compareElements, compareText, describeElement, keyElement, valueElement } from "./path-element.ts";
import { allBut, nothingBut } from "./reset-fields.ts";
import { shapeOf } from "./shape.ts";

const element = fc.constantFrom("f:a", "f:b", "f:c", 'k:{"n":1}', 'k:{"n":10}', 'k:{"n":"x"}', 'v:"s"', "v:2", "i:0");
const path = fc.array(element, { minLength: 1, maxLength: 4 });
const paths = fc.array(path, { maxLength: 12 });

function setOfPaths(all: readonly (readonly string[])[]): FieldSet {
  return all.reduce<FieldSet>((set, one) => {
    const single = one.reduceRight<FieldSet>((node, step) => ({ [step]: node }), EMPTY);
    return union(set, single);
  }, EMPTY);
}

const keys = (all: Iterable<readonly string[]>): string[] => [...new Set([...all].map((one) => one.join(" ")))].sort();
const startsWith = (one: string, prefix: string): boolean => one === prefix || one.startsWith(`${prefix} `);

/** Whether elements at every level are in canonical order, "." first. */
function isCanonical(set: FieldSet): boolean {
  const elements = Object.keys(set);
  if (elements.indexOf(".") > 0 || (elements.length === 1 && elements[0] === ".")) return false;
  const rest = elements.filter((one) => one !== ".");
  const isSorted = rest.every((one, i) => i === 0 || compareElements(rest[i - 1] ?? "", one) < 0);
  return isSorted && rest.every((one) => isCanonical(set[one] ?? EMPTY));
}

suite("field sets", () => {
  test("are defined by their paths, and survive printing and parsing", () => {
    fc.assert(
      fc.property(paths, (all) => {
        const set = setOfPaths(all);
        assert.deepEqual(keys(pathsOf(set)), keys(all));
        assert.ok(isCanonical(set));
        const read = parseFieldSet(JSON.parse(JSON.stringify(set)));
        assert.equal(JSON.stringify(read), JSON.stringify(set));
        for (const one of all) assert.ok(has(set, ...one));
      }),
    );
  });

  test("are parsed in any order and notation", () => {
    fc.assert(
      fc.property(paths, fc.infiniteStream(fc.nat()), (all, random) => {
        const set = setOfPaths(all);
        const shuffled = (node: FieldSet): FieldSet => {
          const out: MutableFieldSet = {};
          const order = Object.keys(node).map((one) => [random.next().value, one] as const);
          for (const [, one] of order.sort((x, y) => x[0] - y[0])) out[one] = shuffled(node[one] ?? EMPTY);
          return out;
        };
        assert.equal(JSON.stringify(parseFieldSet(shuffled(set))), JSON.stringify(set));
      }),
    );
    const odd = { 'k:{ "b":2, "a":"x<" }': {}, "z:new": {}, "f:x": null };
    assert.equal(JSON.stringify(parseFieldSet(odd)), '{"f:x":{},"k:{\\"a\\":\\"x\\\\u003c\\",\\"b\\":2}":{}}');
    for (const bad of [{ f: {} }, { fx: {} }, { "k:[]": {} }, { "v:{": {} }, { "i:x": {} }, { "f:a": 1 }]) {
      assert.throws(() => parseFieldSet(bad), FieldSetError);
    }
  });

  test("combine like sets of paths", () => {
    fc.assert(
      fc.property(paths, paths, (one, other) => {
        const [left, right] = [setOfPaths(one), setOfPaths(other)];
        const [l, r] = [keys(one), keys(other)];
        const results: [FieldSet, string[]][] = [
          [union(left, right), keys([...one, ...other])],
          [intersection(left, right), l.filter((x) => r.includes(x))],
          [difference(left, right), l.filter((x) => !r.includes(x))],
          [recursiveDifference(left, right), l.filter((x) => !r.some((y) => startsWith(x, y)))],
          [leaves(left), l.filter((x) => !l.some((y) => x !== y && startsWith(y, x)))],
        ];
        for (const [set, expected] of results) {
          assert.deepEqual(keys(pathsOf(set)), expected);
          assert.ok(isCanonical(set));
          assert.equal(isEmpty(set), expected.length === 0);
        }
        assert.equal(sameSet(left, right), l.join() === r.join());
        assert.equal(difference(left, EMPTY), left);
      }),
    );
  });

  test("order elements like kube-apiserver", () => {
    const sorted = [
      "f:A",
      "f:a",
      "f:é",
      "f:\uff00",
      "f:😀",
      'k:{"a":2}',
      'k:{"a":10}',
      'k:{"a":"x"}',
      "v:1",
      'v:"a"',
      "v:false",
      "i:2",
      "i:10",
    ];
    const elements = sorted.toReversed().sort(compareElements);
    assert.deepEqual(elements, sorted);
    assert.ok(compareText("\uffff", "😀") < 0);
  });

  test("print elements canonically and for messages", () => {
    const key = keyElement([
      ["name", 'a"b'],
      ["port", 80],
    ]);
    assert.equal(key, 'k:{"name":"a\\"b","port":80}');
    assert.equal(describeElement(key), '[name="a\\"b",port=80]');
    assert.equal(describeElement(valueElement("x")), '[="x"]');
    assert.equal(describeElement("i:3"), "[3]");
    assert.equal(valueElement("<&>\u2028\b\f\\b\n"), 'v:"\\u003c\\u0026\\u003e\\u2028\\u0008\\u000c\\\\b\\n"');
  });

  test("withNamedFields adds the declared fields above members", () => {
    const text: Schema = { type: "string" };
    const inner: Schema = { type: "object", properties: new Map([["name", text]]), values: text };
    const list: Schema = { type: "array", listType: "map", listMapKeys: ["name"], items: inner };
    const root: Schema = {
      type: "object",
      properties: new Map([
        ["list", list],
        ["map", { type: "object", values: inner }],
      ]),
    };
    const set = setOfPaths([
      ["f:list", 'k:{"name":"x"}', "f:name"],
      ["f:map", "f:key", "f:name"],
    ]);
    assert.deepEqual(keys(pathsOf(withNamedFields(set, shapeOf(root)))), [
      "f:list",
      'f:list k:{"name":"x"} f:name',
      "f:map",
      "f:map f:key f:name",
    ]);
  });

  test("holdsAll compares all members and the nodes above them", () => {
    const item = 'k:{"name":"x"}';
    const inner: Schema = { type: "object", properties: new Map([["size", { type: "integer" }]]) };
    const list: Schema = { type: "array", listType: "map", listMapKeys: ["name"], items: inner };
    const shape = shapeOf({ type: "object", properties: new Map([["list", list]]) });
    const whole = setOfPaths([
      ["f:list", item],
      ["f:list", item, "f:size"],
    ]);
    const part = setOfPaths([["f:list", item, "f:size"]]);
    assert.equal(holdsAll(whole, whole, shape), true);
    assert.equal(holdsAll(whole, setOfPaths([["f:list", item]]), shape), true);
    assert.equal(holdsAll(whole, setOfPaths([["f:list"]]), shape), true, "list is a field above a member");
    assert.equal(holdsAll(part, whole, shape), false, "the item is missing in the set");
    assert.equal(holdsAll(whole, part, shape), false, "the item is not a member and not a field");
    assert.equal(holdsAll(whole, setOfPaths([["f:other"]]), shape), false);
    assert.equal(holdsAll(EMPTY, EMPTY, shape), true);
  });

  test("are filtered by the fields that an endpoint may change", () => {
    const set = fieldSetOf("status", "status.phase", "spec", "spec.a.b", "metadata.labels.x");
    assert.ok(sameSet(allBut("status", "spec.a")(set), fieldSetOf("spec", "metadata.labels.x")));
    const items = setOfPaths([
      ["f:spec", "f:list", 'k:{"n":1}', "f:size"],
      ["f:spec", "f:list", 'k:{"n":1}', "f:image"],
    ]);
    const kept = nothingBut("spec.list.*.size")(union(set, items));
    assert.deepEqual(keys(pathsOf(kept)), ["f:spec", 'f:spec f:list k:{"n":1} f:size']);
  });
});
