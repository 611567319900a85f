import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { fc } from "../../../../test/support/random.ts";
import type { Json } from "../../../base/api/object.ts";
import { cloneJson } from "../../../base/util/clone.ts";
import { DecodeError, exactInteger } from "../json/json.ts";
import { decodeYaml } from "./yaml.ts";
import { printYaml } from "./yaml-print.ts";

const decode = (text: string): Json => decodeYaml(new TextEncoder().encode(text)).value;
const errorOf = (text: string): string => {
  try {
    return JSON.stringify(decode(text));
  } catch (error) {
    assert.ok(error instanceof DecodeError);
    return error.message;
  }
};

// Responses of kube-apiserver 1.37.1 to these bodies.
const SYNTAX_ERRORS: readonly (readonly [string, string])[] = [
  ["apiVersion: v1\nkind: ConfigMap\n metadata: {", "yaml: line 3: mapping values are not allowed in this context"],
  ["a: b: c", "yaml: mapping values are not allowed in this context"],
  ["a: [1", "yaml: line 1: did not find expected ',' or ']'"],
  ["a: {b: c", "yaml: line 1: did not find expected ',' or '}'"],
  ["{", "yaml: line 1: did not find expected node content"],
  ['a: "x', "yaml: found unexpected end of stream"],
  ["a: 'x", "yaml: found unexpected end of stream"],
  ["\ta: b", "yaml: found character that cannot start any token"],
  ["a:\n\t- b", "yaml: line 2: found character that cannot start any token"],
  ["- a\nb: c", "yaml: line 1: did not find expected '-' indicator"],
  ["a: b\n- c", "yaml: line 1: did not find expected key"],
  ["a: *x", "yaml: unknown anchor 'x' referenced"],
  ["a: @b", "yaml: found character that cannot start any token"],
  ["a\nb: c", "yaml: line 2: mapping values are not allowed in this context"],
  ["key: |\n  x\n y: z", "yaml: line 2: did not find expected key"],
  ["a: 1\n  b: 2", "yaml: line 2: mapping values are not allowed in this context"],
  ["a:\n  b: 1\n c: 2", "yaml: line 2: did not find expected key"],
  ["a: \u0001", "yaml: control characters are not allowed"],
  ["a: b\u007f", "yaml: control characters are not allowed"],
  ["a: 'b\u0080'", "yaml: control characters are not allowed"],
  ["a: }", "yaml: did not find expected node content"],
  ["- - a\n  b", "yaml: line 3: could not find expected ':'"],
  ["a : b\nc", "yaml: line 3: could not find expected ':'"],
  ["a: - b", "yaml: block sequence entries are not allowed in this context"],
  ["a: |x\n", "yaml: did not find expected comment or line break"],
  ['a: "\\q"', "yaml: found unknown escape character"],
  ["a: .inf", "json: unsupported value: +Inf"],
  ["a: -.INF", "json: unsupported value: -Inf"],
  ["a: !!int x", "yaml: cannot decode !!str `x` as a !!int"],
  ['x: !!binary "%%%"', "yaml: !!binary value contains invalid base64 data"],
  ["<<: 1", "yaml: map merge requires map or sequence of maps as the value"],
];

const SCALARS: readonly (readonly [string, Json])[] = [
  ["1", 1],
  ["012", 10],
  ["-012", -10],
  ["0o14", 12],
  ["0x1F", 31],
  ["+0x1f", 31],
  ["0b11", 3],
  ["1_000", 1000],
  ["08", 8],
  ["1:30", "1:30"],
  ["1.0", 1],
  [".5", 0.5],
  ["1e18", exactInteger("1000000000000000000") as Json],
  ["1e19", 1e19],
  ["1e21", 1e21],
  ["0.1e-5", 0.000001],
  ["1e400", "1e400"],
  ["_1", "_1"],
  ["0o9", "0o9"],
  ["0x", "0x"],
  ["1,000", "1,000"],
  ["yes", true],
  ["Y", true],
  ["yEs", "yEs"],
  ["off", false],
  ["~", null],
  ["", null],
  ["2026-01-01", "2026-01-01"],
  ["2026-01-01T00:00:00Z", "2026-01-01T00:00:00Z"],
  ["12345678901234567890", 12345678901234567000],
  ["'1'", "1"],
  ["!!str 1", "1"],
  ['!!int "1"', 1],
  ["!foo 1", "1"],
  ["!!binary aGVsbG8=", "hello"],
  ["=", "="],
  ["<<", "<<"],
];

describe("decodeYaml", () => {
  for (const [text, message] of SYNTAX_ERRORS) {
    it(`explains ${JSON.stringify(text)} like kube-apiserver`, () => assert.equal(errorOf(text), message));
  }
  for (const [text, value] of SCALARS) {
    it(`reads ${JSON.stringify(text)} as ${JSON.stringify(value)}`, () =>
      assert.deepEqual(decode(`a: ${text}`), { a: value }));
  }

  it("keeps 64-bit integers", () => {
    assert.equal(JSON.stringify(decode("a: 9223372036854775807")), '{"a":9223372036854775807}');
  });

  it("sorts members and converts keys to strings", () => {
    const value = decode("b: 1\na: 2\nyes: 3\n012: 4\n1.5: x\n");
    assert.deepEqual(value, { "10": 4, "1.5": "x", a: 2, b: 1, true: 3 });
    assert.deepEqual(Object.keys(value as object), ["10", "1.5", "a", "b", "true"]);
  });

  it("supports merge keys and copies aliased values", () => {
    const value = decode("x: &x {a: 1, b: 2}\nz: {<<: *x, b: 3}\nv: *x\n") as Record<string, Json>;
    assert.deepEqual(value, { x: { a: 1, b: 2 }, z: { a: 1, b: 3 }, v: { a: 1, b: 2 } });
    assert.notEqual(value.x, value.v);
  });

  it("decodes only the first document, a blank one to null", () => {
    assert.deepEqual(decode("---\na: 1\n---\nb: 2"), { a: 1 });
    for (const text of ["", " ", "# c\n", "null", "---\n"]) assert.equal(decode(text), null);
  });

  it("rejects a document whose aliases add too much text", () => {
    const repeated = (length: number, times: number) =>
      `a: &a "${"x".repeat(length)}"\nb: [${Array(times).fill("*a").join(",")}]\n`;
    assert.equal(errorOf(repeated(1_400_000, 3)), "yaml: document contains excessive aliasing");
    assert.equal(errorOf(repeated(1000, 3146)), "yaml: document contains excessive aliasing");
    const { b } = decode(repeated(1000, 3145)) as { b: string[] };
    assert.equal(b.length, 3145);
    const keys = `a: &a ${"x".repeat(100_000)}\nb: [${Array(32).fill("{*a : 1}").join(",")}]\n`;
    assert.equal(errorOf(keys), "yaml: document contains excessive aliasing");
    const maps = `a: &a {k: ${"x".repeat(100_000)}}\nb: [${Array(32).fill("{<<: *a}").join(",")}]\n`;
    assert.equal(errorOf(maps), "yaml: document contains excessive aliasing");
  });

  it("rejects a document whose aliases add too many values", () => {
    const lines = ["a0: &a0 [x,x,x,x,x,x,x,x,x,x]"];
    for (let level = 1; level < 12; level++) {
      lines.push(
        `a${level}: &a${level} [${Array(10)
          .fill(`*a${level - 1}`)
          .join(",")}]`,
      );
    }
    assert.equal(errorOf(lines.join("\n")), "yaml: document contains excessive aliasing");
  });

  it("reports duplicate keys with their lines and uses the last one", () => {
    const text = "metadata:\n  name: a\n  name: b\nspec:\n  ports:\n  - port: 80\n    port: 81\n";
    const body = decodeYaml(new TextEncoder().encode(text));
    assert.deepEqual(body.duplicates(), [
      'line 3: key "name" already set in map',
      'line 7: key "port" already set in map',
    ]);
    assert.deepEqual(body.value, { metadata: { name: "b" }, spec: { ports: [{ port: 81 }] } });
  });

  it("does not let __proto__ touch any prototype", () => {
    const value = decode("__proto__: {polluted: true}") as { polluted?: Json };
    assert.equal(value.polluted, undefined);
    assert.deepEqual(Object.keys(value), ["__proto__"]);
  });
});

describe("printYaml", () => {
  it("formats objects like kube-apiserver", () => {
    const value = {
      kind: "ConfigMap",
      apiVersion: "v1",
      metadata: {
        name: "x",
        labels: {},
        finalizers: ["a/b"],
        managedFields: [{ manager: "m", fieldsV1: { ".": {} } }],
      },
      data: {
        a: "1",
        b: "line1\nline2\n",
        c: "x\ny",
        d: "end\n\n",
        e: "it's",
        f: " lead",
        g: "a: b",
        h: "\u0007",
        i: "",
      },
      matrix: [[1, 2], []],
    };
    assert.equal(
      printYaml(value),
      [
        "apiVersion: v1",
        "data:",
        '  a: "1"',
        "  b: |",
        "    line1",
        "    line2",
        "  c: |-",
        "    x",
        "    y",
        "  d: |+",
        "    end",
        "",
        "  e: it's",
        "  f: ' lead'",
        "  g: 'a: b'",
        '  h: "\\u0007"',
        '  i: ""',
        "kind: ConfigMap",
        "matrix:",
        "- - 1",
        "  - 2",
        "- []",
        "metadata:",
        "  finalizers:",
        "  - a/b",
        "  labels: {}",
        "  managedFields:",
        "  - fieldsV1:",
        "      .: {}",
        "    manager: m",
        "  name: x",
        "",
      ].join("\n"),
    );
  });

  it("prints YAML that decodes to the same value", () => {
    const tricky = fc.constantFrom(
      ..."true yes Y n off null ~ 1 1.5 0x1f 012 0o14 1_000 1:30 2026-01-01 .inf .nan 1e3 - --- ... ? : # & * ! | > % @ ` { } [ ] , =".split(
        " ",
      ),
      ...'<<|- a|a: b|a:|a #b| lead|trail |\n|\n\n|a\n|a\n\n|\na|\tx|a\tb|it\'s|"x"|\\|\u0085|\u2028|\ufeff|😀|a\r\nb|  two\nlines|end \nx|--- a|:x|?x|-x'.split(
        "|",
      ),
    );
    const text = fc.oneof(
      tricky,
      fc.string({ unit: "grapheme" }),
      fc.array(tricky, { maxLength: 4 }).map((all) => all.join("")),
    );
    const { tree } = fc.letrec<{ tree: Json }>((tie) => ({
      tree: fc.oneof(
        { depthSize: "small", withCrossShrink: true },
        text,
        fc.integer(),
        fc.boolean(),
        fc.constant(null),
        fc.array(tie("tree"), { maxLength: 4 }),
        fc.dictionary(text, tie("tree"), { maxKeys: 4 }) as fc.Arbitrary<Json>,
      ),
    }));
    fc.assert(
      fc.property(tree, (value) => assert.deepEqual(cloneJson(decode(printYaml(value))), cloneJson(value))),
      { numRuns: 2000 },
    );
  });
});
