import assert from "node:assert/strict";
import { test } from "node:test";
import { announcedAddress, externalAddress, localUrl } from "./reachable-address.ts";

test("announces --advertise-address, whatever the bind address is", () => {
  for (const bindAddress of ["127.0.0.1", "0.0.0.0", "192.0.2.9"]) {
    const addresses = { bindAddress, advertiseAddress: "192.0.2.1" };
    assert.equal(announcedAddress(addresses), "192.0.2.1");
    assert.equal(externalAddress(addresses, 6443), "192.0.2.1:6443");
  }
  assert.equal(externalAddress({ bindAddress: "::", advertiseAddress: "2001:db8::1" }, 6443), "[2001:db8::1]:6443");
});

test("announces the bind address if --advertise-address is missing or unspecified", () => {
  for (const advertiseAddress of [undefined, "0.0.0.0", "::"]) {
    assert.equal(announcedAddress({ bindAddress: "192.0.2.9", advertiseAddress }), "192.0.2.9");
  }
});

test("does not announce a loopback address, but uses it in documents", () => {
  const addresses = { bindAddress: "192.0.2.9", advertiseAddress: "127.0.0.1" };
  assert.equal(announcedAddress(addresses), undefined);
  assert.equal(externalAddress(addresses, 6443), "127.0.0.1:6443");
});

test("the local URL of an unspecified bind address is loopback", () => {
  assert.equal(localUrl("0.0.0.0", 1), "https://127.0.0.1:1");
  assert.equal(localUrl("::", 1), "https://127.0.0.1:1");
  assert.equal(localUrl("::1", 1), "https://[::1]:1");
  assert.equal(localUrl("192.0.2.9", 1), "https://192.0.2.9:1");
});
