import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import path from "node:path";
import { test } from "node:test";
import { LIMITS, limitOf } from "./limits.ts";

test("limits that explain differences are documented as differences from kube-apiserver", () => {
  const file = path.join(import.meta.dirname, "..", "golden", "gap-reasons.json");
  const { differences } = JSON.parse(readFileSync(file, "utf8")) as { differences: { what: string }[] };
  const listed = differences.map(({ what }) => what);
  assert.deepEqual(
    LIMITS.map(({ what }) => what).filter((what) => !listed.includes(what)),
    [],
  );
});

test("a limit explains a difference that only our response shows", () => {
  const difference = (theirs: string, ours: string) => limitOf({ at: "", path: "status", theirs, ours });
  assert.match(difference("201 ", "400 yaml: document contains excessive aliasing") ?? "", /^YAML aliases/);
  assert.equal(difference("400 excessive aliasing", "400 excessive aliasing, too"), undefined);
  assert.equal(difference("201 ", "422 invalid"), undefined);
});
