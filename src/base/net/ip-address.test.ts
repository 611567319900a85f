import assert from "node:assert/strict";
import { isIP } from "node:net";
import { describe, it } from "node:test";
import { fc } from "../../../test/support/random.ts";
import { firstAddress, isLoopbackHost, parseAddress, parseLooseAddress, printAddress } from "./ip-address.ts";

describe("addresses", () => {
  it("accepts the same addresses as Node", () => {
    const part = fc.oneof(
      fc.stringMatching(/^[0-9a-f]{0,5}$/),
      fc.constantFrom("::", ":", ".", "255", "256", "01", "1.2.3.4"),
    );
    fc.assert(
      fc.property(fc.array(part, { maxLength: 9 }), fc.constantFrom(":", ".", ""), (parts, glue) => {
        const text = parts.join(glue);
        assert.equal(parseAddress(text)?.length, { 0: undefined, 4: 4, 6: 16 }[isIP(text)], text);
      }),
      { numRuns: 2000 },
    );
  });

  it("prints parsed addresses", () => {
    fc.assert(
      fc.property(fc.ipV4(), (text) => assert.equal(printAddress(parseAddress(text) ?? new Uint8Array()), text)),
    );
    fc.assert(
      fc.property(fc.ipV6(), (text) => {
        const bytes = parseAddress(text) ?? new Uint8Array();
        assert.deepEqual(parseAddress(printAddress(bytes)), bytes);
      }),
    );
    assert.equal(printAddress(parseAddress("::ffff:1.2.3.4") ?? new Uint8Array()), "::ffff:102:304");
  });

  it("parseLooseAddress accepts any number of leading zeros", () => {
    const zeros = "0".repeat(30_000);
    const rows: [text: string, plain: string | undefined][] = [
      ["010.0.0.1", "10.0.0.1"],
      ["0.0.0.0000", "0.0.0.0"],
      [`1.2.3.${zeros}4`, "1.2.3.4"],
      ["00001:0002::", "1:2::"],
      ["::00000000ffff", "::ffff"],
      ["::000ffff:001.002.03.4", "::ffff:102:304"],
      [`${zeros}::${zeros}`, "::"],
      ["", undefined],
      ["0", undefined],
      ["010.0.0", undefined],
      ["010.0.0.", undefined],
      ["010.0.0.256", undefined],
      ["00a.0.0.1", undefined],
      ["::00010000", undefined],
      ["0:0:0:0:0:0:0:0:00", undefined],
      ["01:2", undefined],
      [":01::", undefined],
      [`${zeros}x`, undefined],
      [`${zeros}.x`, undefined],
      ["0.".repeat(10_000), undefined],
    ];
    for (const [text, plain] of rows) {
      const bytes = parseLooseAddress(text);
      assert.equal(bytes && printAddress(bytes), plain, text.slice(0, 40));
    }
  });

  it("returns the first address of a range", () => {
    assert.equal(firstAddress("10.96.0.0/16"), "10.96.0.1");
    assert.equal(firstAddress("10.0.1.77/24"), "10.0.1.1");
    assert.equal(firstAddress("192.168.3.200/29"), "192.168.3.201");
    assert.equal(firstAddress("fd00:10:96::/112"), "fd00:10:96::1");
    assert.equal(firstAddress("nonsense"), undefined);
  });
});

describe("loopback hosts", () => {
  it("are localhost and the addresses of the loopback interface", () => {
    const hosts = ["localhost", "LocalHost", "127.0.0.1", "127.255.10.99", "[::1]"];
    assert.deepEqual(hosts.filter(isLoopbackHost), hosts);
  });

  it("are no names that begin like one", () => {
    const names = ["", "127.example.com", "127.0.0.1.example.com", "127.0.0", "localhost.example.com"];
    const addresses = ["127.0.0.256", "127.0.0.01", "127.0.0.1:80", "[127.0.0.1]", "::1", "[::]", "128.0.0.1"];
    assert.deepEqual([...names, ...addresses].filter(isLoopbackHost), []);
  });
});
