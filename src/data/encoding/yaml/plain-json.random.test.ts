import assert from "node:assert/strict";
import { suite, test } from "node:test";
import { fc } from "../../../../test/support/random.ts";
import { plainJson } from "./plain-json.ts";
import { decodeYaml } from "./yaml.ts";

const bytes = (text: string): Uint8Array => new TextEncoder().encode(text);

suite("JSON as YAML", () => {
  test("a document that is parsed as JSON has the same value as in YAML", () => {
    const ascii = fc.string({ unit: "grapheme-ascii" });
    const scalar = fc.oneof(ascii, fc.integer(), fc.double({ noNaN: true, noDefaultInfinity: true }), fc.boolean());
    const { value } = fc.letrec((tie) => ({
      value: fc.oneof({ maxDepth: 4 }, scalar, fc.constant(null), fc.array(tie("value")), tie("map")),
      map: fc.dictionary(ascii, tie("value")),
    }));
    let plain = 0;
    fc.assert(
      fc.property(fc.dictionary(ascii, value), fc.boolean(), (object, hasEnd) => {
        const text = `${JSON.stringify(object)}${hasEnd ? "\n" : ""}`;
        const found = plainJson(bytes(text));
        if (found === undefined) return;
        plain++;
        // A document that begins with a space is never parsed as JSON.
        assert.equal(JSON.stringify(found), JSON.stringify(decodeYaml(bytes(` ${text}`)).value));
      }),
      { numRuns: 2000 },
    );
    assert.ok(plain > 200, `${plain}`);
  });

  const others = [
    '[{"a":1}]',
    ' {"a":1}',
    '{"a":1,"a":2}',
    '{"a":\n1}',
    '{"a":\t1}',
    '{"a":"é"}',
    '{"a":"\\u0041"}',
    '{"a":1e3}',
    '{"a":12345678901234567}',
    '{"a":-0}',
    '{"a" :1}',
    "{a: 1}",
    '{"a":1} # comment',
    `{"a":${"[".repeat(101)}${"]".repeat(101)}}`,
  ];
  for (const text of others) {
    test(`${text.slice(0, 30)} is parsed as YAML`, () => assert.equal(plainJson(bytes(text)), undefined));
  }

  test("rejects a document with too many values in any notation", () => {
    const texts = [
      `{"a":[${new Array(350_000).fill("1").join(",")}]}`,
      `{a: [${new Array(350_000).fill("1").join(",")}]}`,
      `a: [${new Array(350_000).fill("1").join(",")}]`,
      `{'a': [${new Array(1_000_000).fill("").join(",")}]}`,
      `a: \n${"- 1\n".repeat(350_000)}`,
      "-\n".repeat(1_250_000),
    ];
    for (const text of texts) {
      assert.throws(() => decodeYaml(bytes(text)), { message: "Request entity too large: limit is 350000 values" });
    }
    const lines = `a: |\n${"  - a\n".repeat(200_000)}`;
    assert.equal((decodeYaml(bytes(lines)).value as { a: string }).a.length, 800_000);
  });
});
