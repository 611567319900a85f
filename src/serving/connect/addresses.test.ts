import assert from "node:assert/strict";
import { test } from "node:test";
import { AddressRules, isSameAddress } from "./addresses.ts";

const refused =
  "127.0.0.1 127.255.0.9 ::1 0.0.0.0 0.1.2.3 :: 169.254.169.254 169.254.1.1 fe80::1 ff02::1 224.0.0.1 255.255.255.255 ::ffff:127.0.0.1 ::ffff:169.254.169.254 64:ff9b::7f00:1 64:ff9b::a9fe:a9fe 100.100.100.200 192.0.0.192 168.63.129.16 fd00:ec2::254 localhost 0177.0.0.1. 0177.0.0.1 10.0.0.01 0x7f.0.0.1 2130706433 fe80::1%lo".split(
    " ",
  );

test("denies loopback, link-local, multicast and metadata addresses in any notation", () => {
  const rules = new AddressRules([]);
  for (const address of ["", ...refused]) assert.equal(rules.allows(address), false, address);
  for (const address of ["10.0.0.1", "8.8.8.8", "2001:db8::1", "fd00::1"]) assert.ok(rules.allows(address), address);
});

test("allows only the explicitly allowed ranges in addition", () => {
  const rules = new AddressRules(["127.0.0.0/8"]);
  assert.ok(rules.allows("127.0.0.1"));
  assert.ok(rules.allows("::ffff:127.0.0.1"));
  assert.equal(rules.allows("::1"), false);
  assert.equal(rules.allows("169.254.169.254"), false);
  assert.throws(() => new AddressRules(["nowhere"]), /is not a CIDR range/);
});

test("allows loopback for nodes, but no metadata addresses", () => {
  const rules = new AddressRules([], true);
  assert.ok(rules.allows("127.0.0.1"));
  assert.equal(rules.allows("169.254.169.254"), false);
});

test("an IPv4 address inside an IPv6 address is refused in every form", () => {
  const rules = new AddressRules([]);
  const forms: Readonly<Record<string, readonly [loopback: string, metadata: string, pod: string]>> = {
    mapped: ["::ffff:7f00:1", "::ffff:a9fe:a9fe", "::ffff:a00:1"],
    translated: ["::ffff:0:7f00:1", "::ffff:0:a9fe:a9fe", "::ffff:0:a00:1"],
    compatible: ["::127.0.0.1", "::169.254.169.254", "::10.0.0.1"],
    nat64: ["64:ff9b::7f00:1", "64:ff9b::a9fe:a9fe", "64:ff9b::a00:1"],
    "nat64 /96": ["64:ff9b:1::7f00:1", "64:ff9b:1::a9fe:a9fe", "64:ff9b:1::a00:1"],
    "nat64 /48": ["64:ff9b:1:7f00:0:100::", "64:ff9b:1:a9fe:a9:fe00::", "64:ff9b:1:a00:0:100::"],
    "nat64 /56": ["64:ff9b:1:7f:0:1::", "64:ff9b:1:a9:fe:a9fe::", "64:ff9b:1:a:0:1::"],
    "nat64 /64": ["64:ff9b:1:0:7f:0:100:0", "64:ff9b:1:0:a9:fea9:fe00:0", "64:ff9b:1:0:a:0:100:0"],
    "6to4": ["2002:7f00:1::", "2002:a9fe:a9fe::1", "2002:a00:1::1"],
    "teredo client": ["2001:0:a00:1::80ff:fffe", "2001:0:a00:1::5601:5601", "2001:0:a00:1::f5ff:fffe"],
    "teredo server": ["2001:0:7f00:1::f5ff:fffe", "2001:0:a9fe:a9fe::f5ff:fffe", "2001:0:a00:1::f5ff:fffe"],
    isatap: ["2001:db8::5efe:7f00:1", "fd00::200:5efe:a9fe:a9fe", "2001:db8::5efe:a00:1"],
  };
  for (const [form, [loopback, metadata, pod]] of Object.entries(forms)) {
    assert.deepEqual(
      [loopback, metadata, pod].map((address) => rules.allows(address)),
      [false, false, true],
      form,
    );
    const local = new AddressRules(["127.0.0.0/8"]);
    assert.deepEqual([local.allows(loopback), local.allows(metadata)], [true, false], form);
    assert.ok(isSameAddress(loopback, "127.0.0.1"), form);
  }
  assert.ok(new AddressRules(["2002::/16"]).allows("2002:7f00:1::"), "an explicit IPv6 range counts");
  assert.equal(rules.allows("64:ff9b:1::"), false, "it contains 0.0.0.0 only");
});

test("the IPv6 ranges of metadata services are refused", () => {
  for (const rules of [new AddressRules([]), new AddressRules([], true)]) {
    for (const address of ["fd00:ec2::254", "fd00:ec2::23", "fd00:ec2:0:1::1", "fd20:ce::254", "fd00:c1::a9fe:a9fe"]) {
      assert.equal(rules.allows(address), false, address);
    }
  }
  assert.ok(new AddressRules([], true).allows("::1"));
  assert.equal(new AddressRules([], true).allows("::"), false);
});
