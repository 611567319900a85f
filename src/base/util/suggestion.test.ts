import assert from "node:assert/strict";
import { test } from "node:test";
import { suggestion } from "./suggestion.ts";

test("suggests the nearest known name", () => {
  assert.equal(suggestion("creat", ["create", "update"]), ", did you mean create?");
  assert.equal(suggestion("ConfigMap", ["secrets", "configmaps"]), ", did you mean configmaps?");
  assert.equal(suggestion("deploymets", ["deployment", "deployments"]), ", did you mean deployments?");
});

test("suggests nothing that differs in more than a third of the letters", () => {
  assert.equal(suggestion("post", ["list", "get"]), "");
  assert.equal(suggestion("remove", ["delete", "update"]), "");
  assert.equal(suggestion("x".repeat(51), ["x".repeat(51)]), "");
});
