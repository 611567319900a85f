import assert from "node:assert/strict";
import { test } from "node:test";
import type { FieldError } from "../../../base/api/field-error.ts";
import { haveBothRangeFamilies, pushEndpointAddressErrors, pushRangeErrors, rangeWarnings } from "./ip-ranges.ts";

const details = (push: (errors: FieldError[]) => void): string[] => {
  const errors: FieldError[] = [];
  push(errors);
  return errors.map(({ message }) => message.replace(/^Invalid value: "[^"]*": /, ""));
};

test("accepts CIDRs in canonical form only", () => {
  const rows: [text: string, expected: readonly string[]][] = [
    ["10.0.0.0/8", []],
    ["2001:DB8::/32", []],
    ["x", ["must be a valid CIDR value, (e.g. 10.9.8.0/24 or 2001:db8::/64)"]],
    ["10.0.0.0/8/8", ["must be a valid CIDR value, (e.g. 10.9.8.0/24 or 2001:db8::/64)"]],
    ["010.0.0.0/8", ["must not have leading 0s in IP or prefix length"]],
    ["10.0.0.0/08", ["must not have leading 0s in IP or prefix length"]],
    ["::ffff:10.0.0.0/104", ["must not have an IPv4-mapped IPv6 address"]],
    ["10.0.0.1/8", ["must not have bits set beyond the prefix length"]],
  ];
  for (const [text, expected] of rows) {
    assert.deepEqual(
      details((errors) => pushRangeErrors(errors, "f", text)),
      expected,
      text,
    );
  }
  assert.deepEqual(
    details((errors) => pushRangeErrors(errors, "f", "x", new Set(["x"]))),
    [],
  );
});

test("warns about unusual forms of CIDRs", () => {
  const rows: [text: string, expected: readonly string[]][] = [
    ["10.0.0.0/8", []],
    [
      "10.0.0.1/8",
      ['f: CIDR value "10.0.0.1/8" is ambiguous in this context (should be "10.0.0.0/8" or "10.0.0.1/32"?)'],
    ],
    ["2001:DB8::/32", ['f: IPv6 CIDR value "2001:DB8::/32" should be in RFC 5952 canonical format ("2001:db8::/32")']],
  ];
  for (const [text, expected] of rows) assert.deepEqual(rangeWarnings("f", text), expected);
});

test("rejects addresses that endpoints cannot have", () => {
  const rows: [address: string, expected: readonly string[]][] = [
    ["192.0.2.1", []],
    ["2001:db8::1", []],
    ["0.0.0.0", ["may not be unspecified (0.0.0.0)"]],
    ["127.0.0.9", ["may not be in the loopback range (127.0.0.0/8, ::1/128)"]],
    ["::1", ["may not be in the loopback range (127.0.0.0/8, ::1/128)"]],
    ["fe80::7", ["may not be in the link-local range (169.254.0.0/16, fe80::/10)"]],
    ["224.0.0.5", ["may not be in the link-local multicast range (224.0.0.0/24, ff02::/10)"]],
    ["x", ["must be a valid IP address"]],
  ];
  for (const [address, expected] of rows) {
    assert.deepEqual(
      details((errors) => pushEndpointAddressErrors(errors, "f", address)),
      expected,
      address,
    );
  }
});

test("distinguishes dual-stack from single-stack", () => {
  assert.equal(haveBothRangeFamilies(["10.0.0.0/8", "2001:db8::/64"]), true);
  assert.equal(haveBothRangeFamilies(["10.0.0.0/8", "11.0.0.0/8"]), false);
  assert.equal(haveBothRangeFamilies(["10.0.0.0/8", "x"]), undefined);
});
