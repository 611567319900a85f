import assert from "node:assert/strict";
import { test } from "node:test";
import { fc } from "../../../../../test/support/random.ts";
import { isQualifiedIscsiName } from "./iscsi-names.ts";

// Upstream's pattern. It takes more than linear time in JavaScript.
const FORM = /iqn\.\d{4}-\d{2}\.([0-9A-Za-z\-.]+)(:[^,;*&$|\t\n\f\r ]+)$/;

test("accepts the same qualified names as upstream", () => {
  const part = fc.constantFrom("iqn.2001-04.", "iqn.", "com.example", "a", ":", ".", ";", " ", "\u00a0", "1999-01.");
  fc.assert(
    fc.property(fc.array(part, { maxLength: 8 }), (parts) => {
      const name = `iqn${parts.join("")}`;
      assert.equal(isQualifiedIscsiName(name), FORM.test(name), name);
    }),
    { numRuns: 2000 },
  );
});
