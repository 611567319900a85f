import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { fc } from "../../../../test/support/random.ts";
import type { Json } from "../../../base/api/object.ts";
import { isExactInteger } from "../../../base/util/exact-integer.ts";
import { DecodeError, decodeJson, hasFarTooManyValues, MAX_DEPTH, parseJson, printJson } from "./json.ts";

const bytes = (text: string): Uint8Array => new TextEncoder().encode(text);
const errorOf = (text: string): string => {
  try {
    parseJson(bytes(text));
  } catch (error) {
    assert.ok(error instanceof DecodeError);
    return error.message;
  }
  return "(none)";
};

// Responses of kube-apiserver 1.37.1 to these bodies.
const SYNTAX_ERRORS: readonly (readonly [string, string])[] = [
  ["", "unexpected end of JSON input"],
  ["  ", "unexpected end of JSON input"],
  ["{", "unexpected end of JSON input"],
  ['{"a"', "unexpected end of JSON input"],
  ['{"a":', "unexpected end of JSON input"],
  ['{"a":1', "unexpected end of JSON input"],
  ['{"a":1,', "unexpected end of JSON input"],
  ["[1,", "unexpected end of JSON input"],
  ["[1 2]", "invalid character '2' after array element"],
  ['{"a" 1}', "invalid character '1' after object key"],
  ["{a:1}", "invalid character 'a' looking for beginning of object key string"],
  ["{'a':1}", "invalid character '\\'' looking for beginning of object key string"],
  ['{"a":tru}', "invalid character '}' in literal true (expecting 'e')"],
  ['{"a":falsy}', "invalid character 'y' in literal false (expecting 'e')"],
  ['{"a":-}', "invalid character '}' in numeric literal"],
  ['{"a":01}', "invalid character '1' after object key:value pair"],
  ['{"a":1.}', "invalid character '}' after decimal point in numeric literal"],
  ['{"a":1e}', "invalid character '}' in exponent of numeric literal"],
  ['{"a":+1}', "invalid character '+' looking for beginning of value"],
  ['"abc', "unexpected end of JSON input"],
  ['{"a":"x\ny"}', "invalid character '\\n' in string literal"],
  ['{"a":"\t"}', "invalid character '\\t' in string literal"],
  ['{"a":"\\q"}', "invalid character 'q' in string escape code"],
  ['{"a":"\\u12g4"}', "invalid character 'g' in \\u hexadecimal character escape"],
  ['{"a":"\\', "invalid character ' ' in string escape code"],
  ['{"a":"\\u1', "invalid character ' ' in \\u hexadecimal character escape"],
  ['{"a":1}}', "invalid character '}' after top-level value"],
  ["\ufeff{}", "invalid character 'ï' looking for beginning of value"],
  ['{"a":1}\u0000', "invalid character '\\x00' after top-level value"],
  ["tru", "invalid character ' ' in literal true (expecting 'e')"],
  ['{"a":"é\u0001"}', "invalid character '\\x01' in string literal"],
  ["{,}", "invalid character ',' looking for beginning of object key string"],
  ['{"a":1,}', "invalid character '}' looking for beginning of object key string"],
  ["[,]", "invalid character ',' looking for beginning of value"],
  ['{"a":}', "invalid character '}' looking for beginning of value"],
  ["é", "invalid character 'Ã' looking for beginning of value"],
  ["-", "invalid character ' ' in numeric literal"],
  ['{"a":{]', "invalid character ']' looking for beginning of object key string"],
  ['{"a":1:2}', "invalid character ':' after object key:value pair"],
  ['{"\x7f":1\x7f', "invalid character '\\x7f' after object key:value pair"],
  ["hello", "invalid character 'h' looking for beginning of value"],
  ['{"a":1E400}', "json: cannot unmarshal number 1E400 into Go value of type float64"],
];

describe("parseJson", () => {
  for (const [text, message] of SYNTAX_ERRORS) {
    it(`explains ${JSON.stringify(text)} like Go`, () => assert.equal(errorOf(text), message));
  }

  it("rejects JSON above the maximum depth", () => {
    const nested = (depth: number): string => "[".repeat(depth) + "]".repeat(depth);
    assert.equal(errorOf(nested(20_000)), "invalid character '[' exceeded max depth");
    assert.equal(errorOf(nested(MAX_DEPTH + 1)), "invalid character '[' exceeded max depth");
    assert.doesNotThrow(() => JSON.stringify(parseJson(bytes(nested(MAX_DEPTH)))));
  });

  it("reads invalid UTF-8 as replacement characters", () => {
    assert.deepEqual(parseJson(Buffer.from('{"a":"\xff"}', "latin1")), { a: "\ufffd" });
  });

  it("keeps all digits of 64-bit integers", () => {
    const text =
      '{"max":9223372036854775807,"min":-9223372036854775808,"small":9007199254740991,"list":[9007199254740993]}';
    const value = parseJson(bytes(text));
    assert.equal(JSON.stringify(value), text);
    assert.ok(isExactInteger((value as { max: Json }).max));
    assert.equal((value as { small: Json }).small, 9007199254740991);
  });

  it("rounds numbers that are not 64-bit integers to a double", () => {
    const value = parseJson(bytes("[9223372036854775808,0.12345678901234567890,1e100]"));
    assert.equal(JSON.stringify(value), "[9223372036854776000,0.12345678901234568,1e+100]");
  });

  it("keeps the notation of numbers that are not written as integers, for decoders of Go types", () => {
    const { value, written } = decodeJson(bytes('{"a":[1.0,1e2,-0,9223372036854775808,7],"b":"1.0"}'));
    assert.equal(JSON.stringify(value), '{"a":[1,100,0,9223372036854776000,7],"b":"1.0"}');
    assert.equal(JSON.stringify(written?.()), '{"a":[1.0,1e2,0,9223372036854775808,7],"b":"1.0"}');
    assert.equal(decodeJson(bytes('{"a":[1,-2],"b":"1.0"}')).written, undefined);
  });

  it("does not let __proto__ touch any prototype", () => {
    const value = parseJson(bytes('{"__proto__":{"polluted":true},"a":1}')) as { polluted?: Json; a: Json };
    assert.equal(value.polluted, undefined);
    assert.equal(({} as { polluted?: Json }).polluted, undefined);
    assert.equal(JSON.stringify(value), '{"__proto__":{"polluted":true},"a":1}');
  });

  it("fails exactly where JSON.parse fails", () => {
    const piece = fc.constantFrom(
      "{",
      "}",
      "[",
      "]",
      ",",
      ":",
      '"a"',
      "1",
      "-",
      "true",
      "nul",
      " ",
      '"\\u00',
      "e5",
      ".",
    );
    fc.assert(
      fc.property(fc.array(piece, { maxLength: 12 }), (pieces) => {
        const text = pieces.join("");
        // 1e511 does not fit a double and is rejected.
        fc.pre(!/e5\d\d/.test(text));
        let isValid = true;
        try {
          JSON.parse(text);
        } catch {
          isValid = false;
        }
        assert.equal(errorOf(text) === "(none)", isValid);
        if (!isValid) assert.match(errorOf(text), /^invalid character|^unexpected end/);
      }),
      { numRuns: 2000 },
    );
  });
});

describe("decodeJson", () => {
  const duplicates = (text: string): readonly string[] => decodeJson(bytes(text)).duplicates();

  it("reports duplicate members in the order of the text", () => {
    const text =
      '{"metadata":{"name":"a", "name" : "a","labels":{"a":"1","a":"2","a":"3"}},"spec":{"ports":[{},{"port":80,"port":81}]}}';
    assert.deepEqual(duplicates(text), [
      'duplicate field "metadata.name"',
      'duplicate field "metadata.labels.a"',
      'duplicate field "spec.ports[1].port"',
    ]);
  });

  it("rejects a body with too many values before parsing it", () => {
    const list = (count: number, item: string) => bytes(`[${new Array(count).fill(item).join(",")}]`);
    const message = "Request entity too large: limit is 350000 values";
    for (const item of ['""', "1", "null"]) assert.throws(() => decodeJson(list(350_001, item)), { message });
    assert.throws(() => decodeJson(list(175_001, "{}")), { message });
    assert.equal((decodeJson(list(349_999, "1")).value as Json[]).length, 349_999);
    const stored = parseJson(list(350_001, "1")) as Json[];
    assert.equal(stored.length, 350_001);
    assert.equal(decodeJson(bytes(JSON.stringify(",[{".repeat(300_000)))).value, ",[{".repeat(300_000));
  });

  it("detects bodies with far too many values without parsing them", () => {
    const body = (text: string) => hasFarTooManyValues(bytes(`{"a":${text}}`));
    assert.equal(body(`[${"{},".repeat(350_000)}{}]`), true);
    assert.equal(body(`[${"1,".repeat(700_000 - 10)}1]`), false);
    assert.equal(body(JSON.stringify("{,".repeat(300_000))), false);
    assert.equal(body(`${"[".repeat(300_000)}${"]".repeat(300_000)}`), false);
  });

  it("detects duplicates with escapes", () =>
    assert.deepEqual(duplicates('{"a":1,"\\u0061":2}'), ['duplicate field "a"']));

  it("finds no duplicates in the output of JSON.stringify", () => {
    fc.assert(fc.property(fc.jsonValue(), (value) => assert.deepEqual(duplicates(JSON.stringify(value)), [])));
  });
});

describe("printJson", () => {
  it("ends compact text with a line feed and indented text without", () => {
    assert.equal(printJson({ a: [1] }, false), '{"a":[1]}\n');
    assert.equal(printJson({ a: [1] }, true), '{\n  "a": [\n    1\n  ]\n}');
  });
});
