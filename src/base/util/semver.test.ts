import assert from "node:assert/strict";
import { test } from "node:test";
import { compareSemanticVersions, findSemanticVersion } from "./semver.ts";

test("rejects texts that are not semantic versions", () => {
  for (const text of ["1.2.3", "0.0.0", "1.0.0-alpha.1", "1.0.0+build.01", "1.0.0-0a-b.7+x"]) {
    assert.ok(findSemanticVersion(text), text);
  }
  for (const text of ["", "1", "1.2", "01.2.3", "1.2.3-", "1.2.3-01", "v1.2.3", "1.2.3+", "1.2.3 ", "1.-2.3"]) {
    assert.equal(findSemanticVersion(text), undefined, text);
  }
});

test("orders versions like the standard", () => {
  const inOrder = [
    "0.9.0",
    "1.0.0-1",
    "1.0.0-alpha",
    "1.0.0-alpha.1",
    "1.0.0-beta.2",
    "1.0.0-beta.11",
    "1.0.0",
    "1.10.0",
  ];
  const versions = inOrder.map((text) => findSemanticVersion(text) ?? assert.fail(text));
  for (const [i, left] of versions.entries()) {
    for (const [j, right] of versions.entries()) {
      assert.equal(Math.sign(compareSemanticVersions(left, right)), Math.sign(i - j), `${inOrder[i]} ${inOrder[j]}`);
    }
  }
});
