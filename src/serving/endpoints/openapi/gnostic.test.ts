import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { suite, test } from "node:test";
import { fc } from "../../../../test/support/random.ts";
import type { Json, JsonObject } from "../../../base/api/object.ts";
import { decodeYaml } from "../../../data/encoding/yaml/yaml.ts";
import { field } from "./gnostic.ts";
import { printAny } from "./gnostic-any.ts";
import { encodeSwagger } from "./gnostic-v2.ts";
import { encodeOpenApi } from "./gnostic-v3.ts";

/** Small documents with every construct we publish, and their encoding by gnostic's own converter. */
const samples = JSON.parse(readFileSync(new URL("gnostic.fixture.json", import.meta.url), "utf8")) as Record<
  "swagger" | "openApi",
  { readonly document: JsonObject; readonly binary: string }
>;

suite("protobuf encoding of OpenAPI", () => {
  test("encodes a version 2 document like gnostic", () => {
    const { document, binary } = samples.swagger;
    assert.deepEqual(Buffer.from(encodeSwagger("Document", document)).toString("base64"), binary);
  });

  test("encodes a version 3 document like gnostic", () => {
    const { document, binary } = samples.openApi;
    assert.deepEqual(Buffer.from(encodeOpenApi("Document", document)).toString("base64"), binary);
  });

  test("omits members that the model does not define", () => {
    const bare = encodeSwagger("Schema", { type: "string" });
    assert.deepEqual(encodeSwagger("Schema", { type: "string", nullable: true, oneOf: [] }), bare);
  });

  test("rejects invalid field notation", () => {
    assert.deepEqual(field("20 any[]"), { number: 20, type: "any", isRepeated: true, isScalar: false });
    assert.throws(() => field("any"), /not a field: any/);
  });
});

suite("any values", () => {
  test("members keep their order and nested values are indented to multiples of four", () => {
    const value = { z: "1", a: [1, { b: ["c"], d: {} }, []], e: { f: { g: null } } };
    const lines = ['z: "1"', "a:", "    - 1", "    - b:", "        - c", "      d: {}", "    - []", "e:"];
    assert.equal(printAny(value), [...lines, "    f:", "        g: null", ""].join("\n"));
  });

  test("a string with line breaks stays on one line", () => {
    assert.equal(printAny({ a: "b\nc" }), 'a: "b\\nc"\n');
  });

  test("can be parsed back", () => {
    const scalar = fc.oneof(fc.string({ unit: "binary" }), fc.integer(), fc.boolean(), fc.constant(null));
    const { value: values } = fc.letrec((tie) => ({
      value: fc.oneof(
        { maxDepth: 4 },
        scalar,
        fc.array(tie("value"), { maxLength: 3 }),
        fc.dictionary(fc.string().filter(isPlainName), tie("value"), { maxKeys: 3 }),
      ),
    }));
    fc.assert(
      fc.property(values, (value) => {
        const wrapped = { value: value as Json };
        const text = printAny(wrapped);
        assert.deepEqual(structuredClone(decodeYaml(Buffer.from(text)).value), structuredClone(wrapped), text);
      }),
    );
  });
});

const isPlainName = (name: string): boolean => name !== "__proto__";
