import assert from "node:assert/strict";
import { test } from "node:test";
import type { FieldError } from "../../../base/api/field-error.ts";
import { pushOwnFileErrors } from "./file-paths.ts";
import { environmentName, portName, subdomainWithUnderscores } from "./formats.ts";
import { asGo } from "./go-print.ts";
import { imageTag } from "./image-name.ts";
import { addressWarnings, hasBothFamilies, pushAddressErrors } from "./ip.ts";
import { printDifferences } from "./print-differences.ts";
import { roundResourceList } from "./quantities.ts";
import { isExtendedResource, isMultipleOfPages, pushContainerResourceNameErrors } from "./resource-names.ts";
import { trustBundleName, validateSignerName } from "./signer-names.ts";

const textsOf = (push: (errors: FieldError[]) => void): string[] => {
  const errors: FieldError[] = [];
  push(errors);
  return errors.map(({ message }) => message);
};

test("finds the tag of an image", () => {
  const digest = `sha256:${"a".repeat(64)}`;
  const cases: readonly [string, string][] = [
    ["nginx", "latest"],
    ["nginx:1", "1"],
    ["host:5000/nginx", "latest"],
    ["host:5000/a/b:v1", "v1"],
    [`nginx@${digest}`, ""],
    [`nginx:latest@${digest}`, "latest"],
    ["nginx:latest@sha256:abc", ""],
    ["Nginx", ""],
    ["a".repeat(64), ""],
    ["", ""],
  ];
  for (const [image, tag] of cases) assert.equal(imageTag(image), tag, image);
});

test("rounds quantities up to thousandths", () => {
  const list = { a: "1n", b: "1500u", c: "-1n", d: "1Gi", e: "1e-6" };
  roundResourceList(list);
  assert.deepEqual(list, { a: "1m", b: "2m", c: "-1m", d: "1Gi", e: "1e-3" });
});

test("validates IP addresses", () => {
  const cases: readonly [string, string[]][] = [
    ["10.0.0.1", []],
    ["::1", []],
    ["10.0.0.01", ['Invalid value: "10.0.0.01": must not have leading 0s']],
    ["::ffff:10.0.0.1", ['Invalid value: "::ffff:10.0.0.1": must not be an IPv4-mapped IPv6 address']],
    ["x", ['Invalid value: "x": must be a valid IP address, (e.g. 10.9.8.7 or 2001:db8::ffff)']],
  ];
  for (const [text, expected] of cases) {
    assert.deepEqual(
      textsOf((errors) => pushAddressErrors(errors, "f", text)),
      expected,
    );
  }
  assert.deepEqual(addressWarnings("f", "010.0.0.1"), [
    'f: non-standard IP address "010.0.0.1" is invalid: use "10.0.0.1"',
  ]);
  assert.deepEqual(addressWarnings("f", "2001:DB8::1"), [
    'f: IPv6 address "2001:DB8::1" should be in RFC 5952 canonical format ("2001:db8::1")',
  ]);
  assert.deepEqual(addressWarnings("f", "1.2.3.4"), []);
  assert.equal(hasBothFamilies(["1.2.3.4", "::1"]), true);
  assert.equal(hasBothFamilies(["1.2.3.4", "1.2.3.5"]), false);
  assert.equal(hasBothFamilies(["1.2.3.4", ""]), undefined);
});

test("classifies resource names", () => {
  assert.ok(
    isExtendedResource("example.com/gpu") && !isExtendedResource("kubernetes.io/x") && !isExtendedResource("cpu"),
  );
  assert.ok(isMultipleOfPages("hugepages-2Mi", "4Mi") && !isMultipleOfPages("hugepages-2Mi", "3Mi"));
  assert.deepEqual(
    textsOf((errors) => pushContainerResourceNameErrors(errors, "f", "storage")),
    ['Invalid value: "storage": must be a standard resource for containers'],
  );
});

test("validates ports, variables, search domains, files, signers", () => {
  assert.deepEqual(portName("a--1"), ["must not contain consecutive hyphens"]);
  assert.equal(environmentName("A=B").length, 1);
  assert.deepEqual(environmentName("any thing"), []);
  assert.deepEqual(subdomainWithUnderscores("_a.b"), []);
  assert.deepEqual(
    textsOf((errors) => pushOwnFileErrors(errors, "f", "..data")),
    ["Invalid value: \"..data\": must not start with '..'"],
  );
  assert.deepEqual(validateSignerName("example.com/x", "f"), []);
  assert.equal(validateSignerName("x", "f").length, 1);
  assert.deepEqual(trustBundleName("example.com:x:a", "example.com/x"), []);
});

test("prints internal forms and differences", () => {
  assert.deepEqual(
    asGo({ b: "x" }, [
      ["A", "a"],
      ["B", "b", ""],
    ]),
    { A: null, B: "x" },
  );
  assert.equal(
    printDifferences({ a: 1, b: 2 }, { b: 3, a: 1 }),
    '@@ -1,4 +1,4 @@\n {\n  "a": 1,\n- "b": 2\n+ "b": 3\n }\n',
  );
});
