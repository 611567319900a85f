import assert from "node:assert/strict";
import { test } from "node:test";
import { configMapKey, dns1123Label, dns1123Subdomain, labelValue, pathSegment, qualifiedName } from "./names.ts";

const count = (rule: (value: string) => string[], values: readonly string[]) =>
  values.map((value) => rule(value).length);

test("subdomains", () => {
  assert.deepEqual(
    count(dns1123Subdomain, ["a", "a.b-c.d", "1", "A", "a_b", "-a", "", "a..b"]),
    [0, 0, 0, 1, 1, 1, 1, 1],
  );
  assert.deepEqual(dns1123Subdomain(`${"a".repeat(254)}`), ["must be no more than 253 bytes"]);
});

test("labels", () => {
  assert.deepEqual(dns1123Label("a.b"), ["must not contain dots"]);
  assert.deepEqual(count(dns1123Label, ["a", "1-2", "a-", "A"]), [0, 0, 1, 1]);
  assert.deepEqual(dns1123Label("a".repeat(64)), ["must be no more than 63 bytes"]);
});

test("path segments", () => {
  assert.deepEqual(pathSegment(".."), ["may not be '..'"]);
  assert.deepEqual(pathSegment("a/b%"), ["may not contain '/'", "may not contain '%'"]);
  assert.deepEqual(pathSegment("system:Any_Thing"), []);
});

test("keys, qualified names and label values", () => {
  assert.deepEqual(count(configMapKey, ["a.b", "..", "bad key"]), [0, 1, 1]);
  assert.deepEqual(count(qualifiedName, ["a", "example.com/a", "/a", "a/", "a/b/c", "bad key"]), [0, 0, 1, 2, 1, 1]);
  assert.deepEqual(count(labelValue, ["", "a_b", "a b", "-"]), [0, 0, 1, 1]);
});
