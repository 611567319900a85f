import assert from "node:assert/strict";
import { test } from "node:test";
import { kindUnderTest } from "../../kind.suite.ts";
import { coreKinds } from "../group.ts";

const namespace = kindUnderTest(coreKinds, "Namespace");

test("rejects finalizers of a namespace that are not standard or qualified names", () => {
  const problems = (...finalizers: string[]) => namespace.problems({ spec: { finalizers } });
  assert.deepEqual(problems("kubernetes", "orphan", "example.com/x"), []);
  const text = "name is neither a standard finalizer name nor is it fully qualified";
  assert.deepEqual(problems("a"), [`spec.finalizers: Invalid value: "a": ${text}`]);
  assert.equal(problems("-a").length, 2);
  assert.equal(problems("x/y/z").length, 1);
});

test("defaults the phase of a status to Active", () => {
  assert.deepEqual(namespace.complete({ status: {} }).status, { phase: "Active" });
  assert.deepEqual(namespace.complete({ status: { phase: "Terminating" } }).status, { phase: "Terminating" });
});
