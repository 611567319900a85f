import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { isQualifiedIscsiName } from "./iscsi-names.ts";

// Upstream's form. It takes more than linear time here.
const FORM = /iqn\.\d{4}-\d{2}\.([0-9A-Za-z\-.]+)(:[^,;*&$|\t\n\f\r ]+)$/;

test("qualified names have upstream's form", () => {
  const part = fc.constantFrom("iqn.2001-04.", "iqn.", "com.example", "a", ":", ".", ";", " ", "\u00a0", "1999-01.");
  fc.assert(
    fc.property(fc.array(part, { maxLength: 8 }), (parts) => {
      const name = `iqn${parts.join("")}`;
      assert.equal(isQualifiedIscsiName(name), FORM.test(name), name);
    }),
    { numRuns: 2000 },
  );
});

test("long names are read once", () => {
  const started = process.cpuUsage().user;
  for (const part of ["iqn.2001-04.a", "iqn.2001-04.a:", "iqn.2001-04.a;"]) {
    assert.equal(isQualifiedIscsiName(`${part.repeat(150_000)};`), false);
  }
  assert.ok(process.cpuUsage().user - started < 1_000_000, "one second");
});
