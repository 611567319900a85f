import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import path from "node:path";
import { test } from "node:test";
import { parsePolicy } from "../src/access/audit/policy.ts";

test("the policy of docs/audit.md can be used", () => {
  const text = readFileSync(path.join(import.meta.dirname, "..", "docs", "audit.md"), "utf8");
  const [, policy = ""] = /```yaml\n([^`]*)```/.exec(text) ?? [];
  assert.equal(parsePolicy(Buffer.from(policy), "docs/audit.md", assert.fail).rules.length, 4);
});
