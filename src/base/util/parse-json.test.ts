import assert from "node:assert/strict";
import { suite, test } from "node:test";
import { parseJsonText } from "./parse-json.ts";

const ESCAPES = ['\\"', "\\\\", "\\/", "\\b", "\\f", "\\n", "\\r", "\\t", "\\u000a", "\\u0041", "\\u005C", "\\u0041bc"];

suite("parseJsonText", () => {
  test("keeps apart member names with escapes, in whichever order they come", () => {
    for (const first of ESCAPES) {
      for (const second of ESCAPES) {
        for (const name of [first, second]) {
          const [expected] = JSON.parse(`["${name}"]`) as string[];
          assert.deepEqual(Object.keys(parseJsonText(`{"p":1,"${name}" :1}`)), ["p", expected], name);
        }
      }
    }
  });

  test("reads names as they are after a longer name with backslashes", () => {
    const hostile = JSON.stringify({ m: 1, 'k:{\\"name\\":\\"ngin': 1 });
    const harmless = JSON.stringify({ m: 1, 'k:{"name":"nginx"}': {} });
    assert.deepEqual(parseJsonText(hostile), { m: 1, 'k:{\\"name\\":\\"ngin': 1 });
    assert.deepEqual(parseJsonText(harmless), { m: 1, 'k:{"name":"nginx"}': {} });
  });

  test("parses everything as JSON.parse does", () => {
    for (const text of [
      '{"a\\"\\n":1,"__proto__":{"\\\\":[]}}',
      ' { "a" : "\\n" , "b" : [ "\\\\" , "\\"", -1.5e+3, 0, true, false, null, { } , [ ] ] } ',
      '{"x\\"\\"":"\\":"}',
      '"\\\\"',
      '["\\\\\\"",{"\\\\\\\\":"\\\\\\":"}]',
    ]) {
      assert.deepEqual(parseJsonText(text), JSON.parse(text), text);
    }
  });

  test("gives the reviver names, values and sources in the order of JSON.parse", () => {
    const text = '{"\\\\":1.0,"a":[1e2,"\\n",{"b":null}]}';
    const seen = (parse: typeof parseJsonText) => {
      const calls: unknown[] = [];
      parse(text, (key, value, { source }) => {
        calls.push([key, value, source]);
        return value;
      });
      return calls;
    };
    assert.deepEqual(seen(parseJsonText), seen(JSON.parse as typeof parseJsonText));
  });

  test("throws a SyntaxError like JSON.parse", () => {
    assert.throws(() => parseJsonText('{"\\\\":'), SyntaxError);
  });
});
