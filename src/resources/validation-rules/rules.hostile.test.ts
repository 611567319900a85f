import { test } from "node:test";
import { StepCounter } from "../../../test/support/steps.ts";
import type { Json, JsonObject } from "../../base/api/object.ts";
import { metered } from "../../base/util/meter.ts";
import { structuralSchema } from "../../data/schema/structural-schema.ts";
import { rulesOf } from "./validate-rules.ts";

const counter = new StepCounter();
const same = { "x-kubernetes-validations": [{ rule: "self == oldSelf && self + oldSelf == self" }] };
const items = { type: "object", properties: { k: { type: "integer" } } };
const numbers = (size: number) => Array.from({ length: size }, (_, i) => i);

const lists: Readonly<Record<string, readonly [schema: JsonObject, listOf: (size: number) => Json[]]>> = {
  set: [{ items: { type: "integer" } }, numbers],
  map: [{ items, "x-kubernetes-list-map-keys": ["k"] }, (size) => numbers(size).map((k) => ({ k }))],
};

for (const [type, [schema, listOf]] of Object.entries(lists)) {
  test(`validation rules read a long list of type ${type} once`, () => {
    const spec = { type: "array", "x-kubernetes-list-type": type, ...schema, ...same };
    const rules = rulesOf(structuralSchema({ type: "object", properties: { spec } }));
    counter.assertLinear((size) => {
      const list = listOf(size);
      rules.check({ spec: list }, { spec: list.toReversed() }, () => undefined);
    }, 2000);
  });
}

/** Lists and maps of each type, of any size. Rules read them by the schema. */
const SHAPES: Readonly<Record<string, readonly [schema: JsonObject, of: (size: number) => Json]>> = {
  ...Object.fromEntries(
    Object.entries(lists).map(([type, [schema, listOf]]) => [
      `a list of type ${type}`,
      [{ type: "array", "x-kubernetes-list-type": type, ...schema }, listOf] as const,
    ]),
  ),
  "an atomic list": [{ type: "array", items: { type: "integer" } }, numbers],
  "a map": [
    { type: "object", additionalProperties: { type: "integer" } },
    (size) => Object.fromEntries(numbers(size).map((k) => [`k${k}`, k])),
  ],
  "a list of unknown objects": [
    { type: "array", items: { type: "object", "x-kubernetes-preserve-unknown-fields": true } },
    (size) => numbers(size).map((k) => ({ k })),
  ],
};

const RULES = ["self == oldSelf", "self.size() >= 0", "self.all(x, self.size() >= 0)", "self.exists(x, x in self)"];

for (const [name, [schema, of]] of Object.entries(SHAPES)) {
  test(`the meter is charged for rules about ${name}`, () => {
    for (const rule of [...RULES, ...(schema.type === "array" ? ["(self + oldSelf).size() >= 0"] : [])]) {
      const spec = { ...schema, "x-kubernetes-validations": [{ rule }] };
      const rules = rulesOf(structuralSchema({ type: "object", properties: { spec } }));
      const values = new Map([100, 400].map((size) => [size, [{ spec: of(size) }, { spec: of(size) }] as const]));
      counter.assertCharged(
        (size, meter) => {
          const [next, previous] = values.get(size) ?? [null, null];
          metered(meter, () => rules.check(next, previous, () => undefined));
        },
        100,
        rule,
      );
    }
  });
}
