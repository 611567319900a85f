import assert from "node:assert/strict";
import { suite, test } from "node:test";
import { canonicalBase64 } from "./decode-base64.ts";
import { canonicalMicroTime, canonicalTime } from "./decode-time.ts";

suite("times", () => {
  test("are printed in UTC", () => {
    assert.equal(canonicalTime("2024-02-29T23:59:59Z"), "2024-02-29T23:59:59Z");
    assert.equal(canonicalTime("2024-01-01T00:30:00.999+01:00"), "2023-12-31T23:30:00Z");
    assert.equal(canonicalTime("2024-01-01T1:00:00Z"), "2024-01-01T01:00:00Z");
    assert.equal(canonicalTime("0099-01-01T00:00:00Z"), "0099-01-01T00:00:00Z");
    assert.equal(canonicalMicroTime("2024-01-01T00:00:00.123456-01:00"), "2024-01-01T01:00:00.123456Z");
  });

  const refused: readonly (readonly [text: string, message: string])[] = [
    ["2024-13-01T00:00:00Z", 'parsing time "2024-13-01T00:00:00Z": month out of range'],
    ["2023-02-29T00:00:00Z", 'parsing time "2023-02-29T00:00:00Z": day out of range'],
    ["2024-01-01T24:00:00Z", 'parsing time "2024-01-01T24:00:00Z": hour out of range'],
    ["2024-01-01T00:00:00Zx", 'parsing time "2024-01-01T00:00:00Zx": extra text: "x"'],
    [
      '2024"\\\n\u007f\u0080é😀',
      String.raw`parsing time "2024\"\\\x0a${"\u007f"}\xc2\x80\xc3\xa9\xf0\x9f\x98\x80" as "2006-01-02T15:04:05Z07:00": cannot parse "\"\\\x0a${"\u007f"}\xc2\x80\xc3\xa9\xf0\x9f\x98\x80" as "-"`,
    ],
    [
      "2024-01-01 00:00:00Z",
      'parsing time "2024-01-01 00:00:00Z" as "2006-01-02T15:04:05Z07:00": cannot parse " 00:00:00Z" as "T"',
    ],
    [
      "2024-01-01T00:00:00",
      'parsing time "2024-01-01T00:00:00" as "2006-01-02T15:04:05Z07:00": cannot parse "" as "Z07:00"',
    ],
  ];
  for (const [text, message] of refused) {
    test(`are rejected: ${message}`, () => assert.throws(() => canonicalTime(text), { message }));
  }

  test("with microseconds need all six digits", () => {
    const message =
      'parsing time "2024-01-01T00:00:00Z" as "2006-01-02T15:04:05.000000Z07:00": cannot parse "Z" as ".000000"';
    assert.throws(() => canonicalMicroTime("2024-01-01T00:00:00Z"), { message });
  });
});

suite("base64", () => {
  test("is printed without line ends", () => {
    assert.equal(canonicalBase64("QU\r\nI="), "QUI=");
    assert.equal(canonicalBase64(""), "");
    // Unused bits are cleared.
    assert.equal(canonicalBase64("QUJ="), "QUI=");
  });

  const refused: readonly (readonly [text: string, position: number])[] = [
    ["%%%", 0],
    ["QUI", 0],
    ["QUJDQQ", 4],
    ["QQ=", 3],
    ["Q===", 1],
    ["QUI=x", 4],
    ["QU-_", 2],
    ["QQ=x", 3],
  ];
  for (const [text, position] of refused) {
    test(`is rejected: ${text}`, () => {
      assert.throws(() => canonicalBase64(text), { message: `illegal base64 data at input byte ${position}` });
    });
  }
});
