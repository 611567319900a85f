import assert from "node:assert/strict";
import { suite, test } from "node:test";
import type { Json, JsonObject } from "../../base/api/object.ts";
import { structuralSchema } from "../../data/schema/structural-schema.ts";
import { escapeName, unescapeName } from "./escaping.ts";
import { rulesOf } from "./validate-rules.ts";

function check(spec: JsonObject, next: Json, previous?: Json, warnings: string[] = []): string[] {
  const schema = structuralSchema({ type: "object", properties: { spec } });
  const before = previous === undefined ? undefined : { spec: previous };
  const found = rulesOf(schema).check({ spec: next }, before, (text) => warnings.push(text));
  return found.map(({ field, message }) => `${field}: ${message}`);
}

const rule = (text: string, more: JsonObject = {}): JsonObject => ({
  "x-kubernetes-validations": [{ rule: text, ...more }],
});

suite("rules of custom objects", () => {
  const limits: JsonObject = {
    type: "object",
    properties: { min: { type: "integer" }, max: { type: "integer" } },
    ...rule("self.min <= self.max", { messageExpression: "'%d is above %d'.format([self.min, self.max])" }),
  };

  test("report the text of their messageExpression", () => {
    assert.deepEqual(check(limits, { min: 1, max: 2 }), []);
    assert.deepEqual(check(limits, { min: 3, max: 2 }), ["spec: Invalid value: 3 is above 2"]);
    assert.deepEqual(check(limits, { min: 3 }), [
      'spec: Invalid value: "object": no such key: max evaluating rule: self.min <= self.max',
    ]);
  });

  test("only warn about unchanged values", () => {
    const warnings: string[] = [];
    assert.deepEqual(check(limits, { min: 3, max: 2 }, { min: 3, max: 2 }, warnings), []);
    assert.deepEqual(warnings, ["spec: Invalid value: 3 is above 2"]);
    assert.equal(check(limits, { min: 4, max: 2 }, { min: 3, max: 2 }, warnings).length, 1);
    assert.equal(warnings.length, 1);
  });

  test("limit warnings to what fits into response headers", () => {
    const numbers: JsonObject = { type: "array", maxItems: 5000, items: { type: "integer", ...rule("self > 0") } };
    const value = new Array<Json>(5000).fill(0);
    const warnings: string[] = [];
    assert.deepEqual(check(numbers, value, value, warnings), []);
    assert.equal(warnings.length, 1000);
  });

  test("transition rules need an old value unless it is optional", () => {
    const fixed: JsonObject = { type: "string", ...rule("self == oldSelf", { reason: "FieldValueForbidden" }) };
    assert.deepEqual(check(fixed, "a"), []);
    assert.deepEqual(check(fixed, "b", "a"), ["spec: Forbidden: failed rule: self == oldSelf"]);
    const optional: JsonObject = { type: "string", ...rule("oldSelf.hasValue()", { optionalOldSelf: true }) };
    assert.deepEqual(check(optional, "a"), ['spec: Invalid value: "a": failed rule: oldSelf.hasValue()']);
  });

  test("compare lists of type set and map regardless of order", () => {
    const items: JsonObject = { type: "object", properties: { k: { type: "string" }, v: { type: "integer" } } };
    const same = rule("self == oldSelf");
    const set: JsonObject = { type: "array", "x-kubernetes-list-type": "set", items: { type: "string" }, ...same };
    const map: JsonObject = {
      ...{ type: "array", "x-kubernetes-list-type": "map", "x-kubernetes-list-map-keys": ["k"], items },
      ...same,
    };
    assert.deepEqual(check(set, ["a", "b"], ["b", "a"]), []);
    assert.equal(check(set, ["a", "b"], ["b", "c"]).length, 1);
    assert.deepEqual(check(map, [{ k: "a", v: 1 }, { k: "b" }], [{ k: "b" }, { k: "a", v: 1 }]), []);
    assert.equal(check(map, [{ k: "a", v: 1 }], [{ k: "a", v: 2 }]).length, 1);
  });

  test("are compiled with pauses in between", async () => {
    const long = `[${"1,".repeat(300)}1].size() > 0`;
    const validations = Array.from({ length: 60 }, (_, i) => ({ rule: `self > ${i} || ${long}` }));
    const spec: JsonObject = { type: "integer", "x-kubernetes-validations": validations };
    const rules = rulesOf(structuralSchema({ type: "object", properties: { spec } }));
    let turns = 0;
    let next: NodeJS.Immediate | undefined;
    const count = (): void => {
      turns += 1;
      next = setImmediate(count);
    };
    count();
    assert.ok(rules.prepare() instanceof Promise);
    await rules.prepare();
    clearImmediate(next);
    assert.ok(turns > 1);
    assert.equal(rules.prepare(), undefined);
    assert.deepEqual(
      rules.check({ spec: 1 }, undefined, () => undefined),
      [],
    );
  });

  test("stop at the cost limit of a single rule", () => {
    const list: JsonObject = {
      type: "array",
      items: { type: "integer" },
      ...rule("self.all(x, self.all(y, x != -y))"),
    };
    const [error = ""] = check(
      list,
      Array.from({ length: 2000 }, (_, i) => i + 1),
    );
    assert.match(error, /operation cancelled: actual cost limit exceeded': no further validation rules will be run/);
  });
});

test("escapes property names", () => {
  const names = [
    ["a.b-c/d", "a__dot__b__dash__c__slash__d"],
    ["namespace", "__namespace__"],
    ["a__b", "a__underscores__b"],
    ["plain", "plain"],
  ] as const;
  for (const [name, escaped] of names) {
    assert.equal(escapeName(name), escaped);
    assert.equal(unescapeName(escaped), name);
  }
  assert.equal(escapeName("1a"), undefined);
  assert.equal(escapeName("ä"), undefined);
});
