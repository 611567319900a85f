import assert from "node:assert/strict";
import { test } from "node:test";
import { compareVersions } from "./version-order.ts";

test("orders versions by stability, then by number", () => {
  const names = ["v1alpha1", "latest", "v1", "v2beta1", "v10", "v1beta2", "v2", "alpha", "v1beta10"];
  const sorted = ["v10", "v2", "v1", "v2beta1", "v1beta10", "v1beta2", "v1alpha1", "alpha", "latest"];
  assert.deepEqual(names.sort(compareVersions), sorted);
});
