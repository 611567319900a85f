import assert from "node:assert/strict";
import { test } from "node:test";
import type { TraceNote, TraceStep } from "../../../base/api/admission-trace.ts";
import { inputsOf } from "./expression-inputs.ts";
import { fieldChanges } from "./field-changes.ts";
import { printAdmission } from "./print.ts";
import { redact } from "./redact.ts";

test("finds the longest chains of fields in an expression, each once", () => {
  for (const [expression, inputs] of [
    ["object.spec.replicas <= params.max && object.spec.replicas > 0", ["object.spec.replicas", "params.max"]],
    [
      "has(object.spec.x) && object.spec.list[0].name == oldObject.metadata.labels['a.b']",
      ["object.spec.x", "object.spec.list[0].name", 'oldObject.metadata.labels["a.b"]'],
    ],
    ["object.?spec.?replicas.orValue(1) > 2", ["object.?spec.?replicas"]],
    // A loop variable named `object` is not an input; other variables inside the loop are.
    ["request.options.all(object, object.x == variables.y)", ["request.options", "variables.y"]],
    [
      "authorizer.group('apps').resource('deployments').namespace(object.metadata.namespace).check('create').allowed()",
      [
        'authorizer.group("apps").resource("deployments").namespace(object.metadata.namespace).check("create").allowed()',
        "object.metadata.namespace",
      ],
    ],
    ["[object.a, {'k': object.b}][0].size() + size(object.c.trim())", ["object.a", "object.b", "object.c"]],
    ["1 == 1", []],
    ["object.(", []],
  ] as const) {
    assert.deepEqual(inputsOf(expression), inputs, expression);
  }
  const many = Array.from({ length: 100 }, (_, index) => `object.f${index}`).join(" && ");
  assert.equal(inputsOf(many).length, 20);
});

test("names changes by JSON pointers, and limits their number", () => {
  const before = { a: 1, list: [{ x: 1 }, { y: 2 }], gone: { deep: true }, "a/b~c": null };
  const after = { a: 1, list: [{ x: 2 }], "a/b~c": "new", added: [] };
  assert.deepEqual(fieldChanges(before, after), [
    { path: "/list/0/x", old: 1, new: 2 },
    { path: "/list/1", old: { y: 2 } },
    { path: "/gone", old: { deep: true } },
    { path: "/a~1b~0c", old: null, new: "new" },
    { path: "/added", new: [] },
  ]);
  assert.deepEqual(fieldChanges(undefined, undefined), []);
  assert.deepEqual(fieldChanges({}, JSON.parse('{"__proto__": 1, "constructor": 2}')), [
    { path: "/__proto__", new: 1 },
    { path: "/constructor", new: 2 },
  ]);
  const wide = Object.fromEntries(Array.from({ length: 1000 }, (_, index) => [`f${index}`, index]));
  assert.equal(fieldChanges({}, wide).length, 200);
  const deep = (depth: number, leaf: number): object => (depth === 0 ? { leaf } : { a: deep(depth - 1, leaf) });
  assert.equal(fieldChanges(deep(500, 1) as never, deep(500, 2) as never).length, 1);
});

const named = { group: "", resource: "secrets", kind: "Secret", namespace: "a", name: "s" };
const note: TraceNote = {
  type: "policy",
  name: "p",
  binding: "b",
  params: named,
  outcome: "audited",
  message: "not hidden",
  expressions: [
    {
      role: "validation",
      expression: "params.a == object.a",
      result: false,
      inputs: [
        { expression: "params.a", value: "hidden" },
        { expression: "paramsNot", value: 1 },
        { expression: "object.a", value: "shown" },
      ],
    },
    {
      role: "messageExpression",
      expression: "params.a",
      result: "hidden",
      inputs: [{ expression: "params.a", value: "hidden" }],
    },
    {
      role: "auditAnnotation",
      expression: "object.a",
      result: "shown",
      inputs: [{ expression: "object.a", value: "shown" }],
    },
  ],
  changes: [],
  sources: [
    { as: "expressions", object: { ...named, resource: "policies" } },
    { as: "params", object: named },
  ],
};
const step: TraceStep = {
  ...{ phase: "validating", round: 1, plugin: "P", outcome: "allowed", changes: [], warnings: ["careful"] },
  notes: [note],
};

test("hides values of objects that the caller may not read", async () => {
  const whole = await redact([step], async () => true);
  assert.ok(!("sources" in (whole[0]?.notes[0] ?? {})));
  assert.equal(whole[0]?.notes[0]?.message, "not hidden");
  const [shown] = await redact([step], async ({ resource }) => resource !== "secrets");
  const text = JSON.stringify(shown);
  assert.ok(!text.includes('"hidden"'), text);
  assert.equal(shown?.notes[0]?.message, undefined);
  assert.equal(text.match(/"shown"/g)?.length, 3);
  assert.equal(shown?.notes[0]?.expressions[0]?.result, false);
  const [none] = await redact([step], async ({ resource }) => resource === "secrets");
  assert.deepEqual(none?.notes[0]?.expressions, []);
});

test("truncates long values, and prints warnings", async () => {
  const steps = await redact([{ ...step, changes: [{ path: "/a", new: "x".repeat(1000) }] }], async () => true);
  const text = printAdmission({ request: "alice creates pods", verdict: "allowed", code: 201, warnings: [], steps });
  assert.match(text, /policy p, binding b, params Secret a\/s: audited/);
  assert.match(text, /warning: careful/);
  assert.match(text, /\/a: \(none\) → "x{299}… \(1002 characters\)/);
  assert.match(text, /Allowed: 201\.\n$/);
});
