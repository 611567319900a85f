import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { BodyError } from "../../base/api/call.ts";
import type { MediaType } from "./negotiation/negotiate.ts";
import { decodeBody } from "./request-body.ts";

const errorOf = (text: string, type: MediaType = "application/json"): string => {
  try {
    decodeBody(Buffer.from(text), type);
  } catch (error) {
    assert.ok(error instanceof BodyError);
    assert.equal(Buffer.from(error.bytes).toString(), text);
    return error.message;
  }
  return "(none)";
};

describe("decodeBody", () => {
  it("decodes objects, and empty documents to null", () => {
    assert.deepEqual(decodeBody(Buffer.from('{"a":1}'), "application/json").value, { a: 1 });
    assert.deepEqual(decodeBody(Buffer.from("a: 1"), "application/yaml").value, { a: 1 });
    for (const text of ["", "null"]) assert.equal(decodeBody(Buffer.from(text), "application/json").value, null);
    assert.equal(decodeBody(Buffer.from("# nothing\n"), "application/yaml").value, null);
  });

  it("rejects anything else with the messages of kube-apiserver", () => {
    const goType =
      'struct { APIVersion string "json:\\"apiVersion,omitempty\\""; Kind string "json:\\"kind,omitempty\\"" }';
    const unmarshal = (type: string): string =>
      `couldn't get version/kind; json parse error: json: cannot unmarshal ${type} into Go value of type ${goType}`;
    assert.equal(errorOf("[]"), unmarshal("array"));
    assert.equal(errorOf('"text"'), unmarshal("string"));
    assert.equal(errorOf("7"), unmarshal("number"));
    assert.equal(errorOf("true"), unmarshal("bool"));
    assert.equal(errorOf("- 1", "application/yaml"), unmarshal("array"));
    assert.equal(errorOf("{"), "couldn't get version/kind; json parse error: unexpected end of JSON input");
    assert.equal(errorOf("a: b: c", "application/yaml"), "yaml: mapping values are not allowed in this context");
  });

  it("reports duplicates", () => {
    const body = decodeBody(Buffer.from('{"a":1,"a":2}'), "application/json");
    assert.deepEqual([body.value, body.duplicates()], [{ a: 2 }, ['duplicate field "a"']]);
  });
});
