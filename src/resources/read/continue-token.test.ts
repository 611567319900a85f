import assert from "node:assert/strict";
import { test } from "node:test";
import { parseContinueToken, printContinueToken } from "./continue-token.ts";

test("a token has kube-apiserver's format", () => {
  const token = printContinueToken({ revision: 12345, after: "default/pod-a" });
  assert.equal(token, "eyJ2IjoibWV0YS5rOHMuaW8vdjEiLCJydiI6MTIzNDUsInN0YXJ0IjoiZGVmYXVsdC9wb2QtYVx1MDAwMCJ9");
  assert.deepEqual(parseContinueToken(token), { revision: 12345, after: "default/pod-a" });
});

test("rejects invalid tokens", () => {
  const encode = (value: unknown) => Buffer.from(JSON.stringify(value)).toString("base64url");
  const cases: readonly (readonly [string, RegExp])[] = [
    ["abc", /invalid character 'i' looking for beginning of value/],
    ["AAAA", /invalid character '\\x00' looking for beginning of value/],
    ["Jw", /invalid character '\\'' looking for beginning of value/],
    ["e30", /server does not recognize this encoded version $/],
    ["!", /illegal base64 data at input byte 0/],
    [encode({ v: "meta.k8s.io/v1", rv: 0, start: "a" }), /incorrect encoded start resourceVersion/],
    [encode({ v: "meta.k8s.io/v1", rv: 5, start: "" }), /encoded start key empty/],
    [encode({ v: "meta.k8s.io/v1", rv: 5, start: "../x" }), /not valid/],
    [encode(null), /does not recognize/],
  ];
  for (const [text, message] of cases) assert.throws(() => parseContinueToken(text), message);
});
