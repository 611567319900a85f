import assert from "node:assert/strict";
import { isIP } from "node:net";
import { describe, it } from "node:test";
import fc from "fast-check";
import { firstAddress, parseAddress, parseLooseAddress, printAddress } from "./ip-address.ts";

describe("addresses", () => {
  it("reads what Node takes for an address, and nothing else", () => {
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

  it("prints what it read", () => {
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

  it("takes any number of leading zeros when it reads loosely", () => {
    const zeros = "0".repeat(3_000_000);
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
      ["0.".repeat(1_000_000), undefined],
    ];
    for (const [text, plain] of rows) {
      const started = process.cpuUsage().user;
      const bytes = parseLooseAddress(text);
      assert.equal(bytes && printAddress(bytes), plain, text.slice(0, 40));
      assert.ok(process.cpuUsage().user - started < 500_000, "half a second");
    }
  });

  it("finds the first address of a range", () => {
    assert.equal(firstAddress("10.96.0.0/16"), "10.96.0.1");
    assert.equal(firstAddress("10.0.1.77/24"), "10.0.1.1");
    assert.equal(firstAddress("192.168.3.200/29"), "192.168.3.201");
    assert.equal(firstAddress("fd00:10:96::/112"), "fd00:10:96::1");
    assert.equal(firstAddress("nonsense"), undefined);
  });
});
