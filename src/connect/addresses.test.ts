import assert from "node:assert/strict";
import { test } from "node:test";
import { AddressRules } from "./addresses.ts";

const refused =
  "127.0.0.1 127.255.0.9 ::1 0.0.0.0 0.1.2.3 :: 169.254.169.254 169.254.1.1 fe80::1 ff02::1 224.0.0.1 255.255.255.255 ::ffff:127.0.0.1 ::ffff:169.254.169.254 64:ff9b::7f00:1 64:ff9b::a9fe:a9fe 100.100.100.200 192.0.0.192 168.63.129.16 fd00:ec2::254 localhost 0177.0.0.1.".split(
    " ",
  );

test("loopback, link-local, multicast and metadata addresses are refused, however they are written", () => {
  const rules = new AddressRules([]);
  for (const address of ["", ...refused]) assert.equal(rules.allows(address), false, address);
  for (const address of ["10.0.0.1", "8.8.8.8", "2001:db8::1", "fd00::1"]) assert.ok(rules.allows(address), address);
});

test("what is allowed explicitly may be reached, and no more", () => {
  const rules = new AddressRules(["127.0.0.0/8"]);
  assert.ok(rules.allows("127.0.0.1"));
  assert.ok(rules.allows("::ffff:127.0.0.1"));
  assert.equal(rules.allows("::1"), false);
  assert.equal(rules.allows("169.254.169.254"), false);
  assert.throws(() => new AddressRules(["nowhere"]), /no range of addresses/);
});

test("nodes may be on this machine, but are no metadata service", () => {
  const rules = new AddressRules([], true);
  assert.ok(rules.allows("127.0.0.1"));
  assert.equal(rules.allows("169.254.169.254"), false);
});
