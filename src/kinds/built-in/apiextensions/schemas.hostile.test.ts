import assert from "node:assert/strict";
import { test } from "node:test";
import { StepCounter } from "../../../../test/support/steps.ts";
import type { JsonObject } from "../../../base/api/object.ts";
import { kindUnderTest } from "../kind.suite.ts";
import { defaultErrors } from "./default-rules.ts";
import { apiextensionsKinds } from "./group.ts";

const counter = new StepCounter();

/** A text whose rule is long, in objects within objects that all have defaults. */
function nested(depth: number): JsonObject {
  const rule = Array.from({ length: 2000 }, () => "self!='x'").join("&&");
  let schema: JsonObject = { type: "string", maxLength: 5, default: "y", "x-kubernetes-validations": [{ rule }] };
  for (let i = 0; i < depth; i++) schema = { type: "object", properties: { a: schema }, default: {} };
  return schema;
}

test("a rule is compiled once, however many defaults it judges", () => {
  const steps = (depth: number) => counter.count(() => void defaultErrors(nested(depth), "schema"));
  const [one, many] = [steps(1), steps(60)];
  assert.ok(many < 2 * one, `${many} steps, and ${one} for one`);
});

test("a pattern of many nested repetitions is compiled in linear time", () => {
  const kind = kindUnderTest(apiextensionsKinds, "CustomResourceDefinition");
  const definition = (pattern: string) => {
    const openAPIV3Schema = { type: "object", properties: { a: { type: "string", pattern } } };
    const versions = [{ name: "v1", served: true, storage: true, schema: { openAPIV3Schema } }];
    const names = { plural: "things", kind: "Thing" };
    return {
      metadata: { name: "things.example.com" },
      spec: { group: "example.com", scope: "Namespaced", names, versions },
    };
  };
  counter.assertLinear((size) => void kind.problems(definition(`${"(a*)*".repeat(size)}$`)), 50);
});
