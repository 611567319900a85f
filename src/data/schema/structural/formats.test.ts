import assert from "node:assert/strict";
import { suite, test } from "node:test";
import { formatCheck, isKnownFormat } from "./formats.ts";

/** Format, valid texts and invalid texts. */
const FORMATS: readonly (readonly [format: string, right: readonly string[], wrong: readonly string[]])[] = [
  ["bsonobjectid", ["507f1f77bcf86cd799439011"], ["507f1f77bcf86cd79943901", "x07f1f77bcf86cd799439011"]],
  [
    "uri",
    ["http://a.b/c?d#e", "/path", "//two", "mailto:x", "*"],
    ["", "relative", "http://a b", "/%zz", "http://[::1"],
  ],
  ["email", ["a@b", "A B <a@b.c>", '"a b"@c', "a@[127.0.0.1]", "a@b (c)"], ["", "a", "a@", "a@.b", "a@b, c@d", "<a@b"]],
  ["hostname", ["a", "a.bc", "1.a.bc", "a-b.com"], ["", "-a", "a.b", "a_b.com", "a.-b.com", `${"a".repeat(64)}.com`]],
  ["ipv4", ["1.2.3.4", "01.2.3.4", "::ffff:1.2.3.4"], ["1.2.3", "256.1.1.1", "::1", ""]],
  ["ipv6", ["::1", "fe80::1", "::ffff:1.2.3.4"], ["1.2.3.4", ":::", "fe80::1%eth0"]],
  ["cidr", ["10.0.0.0/8", "10.0.0.1/08", "::/0"], ["10.0.0.0", "10.0.0.0/33", "10.0.0.0/-1"]],
  [
    "mac",
    ["00:00:5e:00:53:01", "00-00-5E-00-53-01", "0000.5e00.5301", "00005e005301", "00005e0053010000"],
    ["00:00:5e:00:53", "0000:5e00:5301", ""],
  ],
  ["uuid", ["7B4E1C7A-0000-1000-8000-000000000000", "7b4e1c7a00001000800000000000000a"], ["7b4e1c7a"]],
  ["uuid4", ["7b4e1c7a-0000-4000-8000-000000000000"], ["7b4e1c7a-0000-1000-8000-000000000000"]],
  ["isbn", ["0321751043", "978-0321751041", "155404295X"], ["0321751044", "1"]],
  ["creditcard", ["4111-1111-1111-1111"], ["4111-1111-1111-1112", ""]],
  ["ssn", ["111-11-1111", "111 11 1111"], ["111111111", "11-111-1111"]],
  ["hexcolor", ["#fff", "FFFFFF"], ["#ff", "#ggg"]],
  ["rgbcolor", ["rgb(0, 100,255)"], ["rgb(0,0,256)", "rgb(0,0)"]],
  ["byte", ["YQ==", "YWI=", "YWJj"], ["", "YQ", "YQ=", "Y===", "a=bc"]],
  ["password", ["", "x"], []],
  ["date", ["2024-02-29"], ["2023-02-29", "2023-13-01", "2023-1-1"]],
  ["duration", ["1h", "-1.5h", "0", "22 ns", "3 days", "1 hour"], ["", "1", "x", "1 year"]],
  [
    "date-time",
    ["2024-01-01T00:00:00Z", "2024-01-01t23:59:59.5+01:00"],
    ["2024-01-01", "2024-01-01T24:00:00Z", "2024-01-01 00:00:00Z"],
  ],
  ["k8s-short-name", ["a-b"], ["A", "-a", "a".repeat(64), "a.b"]],
  ["k8s-long-name", ["a-b.c"], ["a..b", "A.b"]],
];

suite("formats", () => {
  for (const [format, right, wrong] of FORMATS) {
    test(format, () => {
      assert.ok(isKnownFormat(format, "string"));
      const check = formatCheck(format);
      assert.deepEqual(
        right.filter((text) => !check?.(text)),
        [],
      );
      assert.deepEqual(
        wrong.filter((text) => check?.(text)),
        [],
      );
    });
  }

  test("are ignored for other types", () => {
    assert.ok(!isKnownFormat("date", "integer"));
    assert.ok(isKnownFormat("int32", "integer") && !isKnownFormat("int32", "number"));
    assert.ok(isKnownFormat("double", "number") && !isKnownFormat("uint8", "integer"));
    assert.ok(isKnownFormat("date", undefined) && !isKnownFormat("date", "object"));
  });

  test("checks long texts in linear time", () => {
    const long = ["1", "a", "(", "a.", " ", "1s", "f:", "=", "<", '"'].map((part) => part.repeat(300_000));
    for (const [format] of FORMATS) for (const text of long) formatCheck(format)?.(text);
  });
});
