import assert from "node:assert/strict";
import { readdirSync, readFileSync } from "node:fs";
import { suite, test } from "node:test";
import { fc } from "../../../../test/support/random.ts";
import type { JsonObject } from "../../../base/api/object.ts";
import { schemaFileName, schemaLibrary } from "../../schema/built-in.ts";
import type { Schema } from "../../schema/schema.ts";
import { DecodeError, parseJson } from "../json/json.ts";
import { decodeMessage, encodeMessage } from "./message.ts";
import { randomObject, randomSource } from "./random-object.suite.ts";

const folder = new URL("../../../../schemas/", import.meta.url);
const find = schemaLibrary((fileName) => readFileSync(new URL(fileName, folder), "utf8"));

function schemaOf(component: string): Schema {
  const schema = find(component);
  assert.ok(schema, component);
  return schema;
}

function allComponents(): string[] {
  return readdirSync(folder)
    .filter((file) => file.endsWith(".json"))
    .flatMap((file) => {
      const { package: home, components } = JSON.parse(readFileSync(new URL(file, folder), "utf8"));
      assert.equal(schemaFileName(home), file);
      return Object.keys(components).map((name) => `${home}.${name}`);
    });
}

const META = "io.k8s.apimachinery.pkg.apis.meta.v1";
const CORE = "io.k8s.api.core.v1";

function roundTrip(component: string, value: JsonObject): JsonObject {
  const schema = schemaOf(component);
  return decodeMessage(schema, encodeMessage(schema, value));
}

suite("messages", () => {
  test("rejects a request body that contains too much, but not a stored object", () => {
    const status = schemaOf(`${CORE}.PodStatus`);
    const conditions = (count: number) => Buffer.from("\x12\x00".repeat(count));
    const names = (count: number) => Buffer.from("\x0a\x00".repeat(count));
    const spec = schemaOf(`${CORE}.PodSpec`);
    const read = (count: number, isBody: boolean) => decodeMessage(status, conditions(count), isBody);
    const added = "Request entity too large: limit is 3145728 with the fields that are always written";
    assert.throws(() => read(49_000, true), { message: added });
    const values = "Request entity too large: limit is 350000 values";
    assert.throws(() => decodeMessage(spec, names(180_000), true), { message: values });
    assert.equal((read(100_000, false).conditions as unknown[]).length, 100_000);
    assert.equal((read(1_000, true).conditions as unknown[]).length, 1_000);
  });

  const components = allComponents().filter((name) => {
    const { wire, properties } = schemaOf(name);
    return wire === undefined && properties !== undefined && properties.size > 0;
  });

  test("decodes what was encoded, for every built-in schema", () => {
    assert.ok(components.length > 800);
    for (const [index, component] of components.entries()) {
      const value = randomObject(schemaOf(component), randomSource(index));
      assert.equal(JSON.stringify(roundTrip(component, value)), JSON.stringify(value), component);
    }
    fc.assert(
      fc.property(fc.constantFrom(...components), fc.nat(), (component, seed) => {
        const value = randomObject(schemaOf(component), randomSource(seed));
        assert.equal(JSON.stringify(roundTrip(component, value)), JSON.stringify(value));
      }),
      { numRuns: 1000 },
    );
  });

  test("decodes random bytes to an object or throws", () => {
    fc.assert(
      fc.property(fc.constantFrom(...components), fc.nat(), fc.nat(), fc.nat(255), (component, seed, at, byte) => {
        const schema = schemaOf(component);
        const bytes = encodeMessage(schema, randomObject(schema, randomSource(seed)));
        if (bytes.length > 0) bytes[at % bytes.length] = byte;
        for (const input of [bytes, bytes.subarray(0, at % (bytes.length + 1))]) {
          try {
            assert.equal(typeof decodeMessage(schema, input), "object");
          } catch (error) {
            assert.ok(error instanceof DecodeError, String(error));
          }
        }
      }),
      { numRuns: 2000 },
    );
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 200 }), (bytes) => {
        try {
          decodeMessage(schemaOf(`${CORE}.Pod`), bytes);
        } catch (error) {
          assert.ok(error instanceof DecodeError, String(error));
        }
      }),
      { numRuns: 2000 },
    );
  });

  test("keeps all digits of 64-bit integers", () => {
    for (const digits of ["9223372036854775807", "-9223372036854775808", "9007199254740993", "-9007199254740993"]) {
      const value = parseJson(Buffer.from(`{"generation":${digits}}`)) as JsonObject;
      assert.equal(JSON.stringify(roundTrip(`${META}.ObjectMeta`, value)), `{"generation":${digits}}`);
    }
  });

  test("treats __proto__ as an ordinary member", () => {
    const value = parseJson(Buffer.from('{"labels":{"__proto__":"x","constructor":"y"}}')) as JsonObject;
    assert.equal(JSON.stringify(roundTrip(`${META}.ObjectMeta`, value)), JSON.stringify(value));
  });

  test("writes zero values always, and shows them according to the schema", () => {
    assert.deepEqual(
      [...encodeMessage(schemaOf(`${META}.StatusCause`), { reason: "a" })],
      [0x0a, 1, 0x61, 0x12, 0, 0x1a, 0],
    );
    assert.deepEqual(decodeMessage(schemaOf(`${META}.StatusCause`), Buffer.of(0x12, 0)), {});
    assert.deepEqual(decodeMessage(schemaOf(`${CORE}.Pod`), Buffer.of()), {
      metadata: {},
      spec: { containers: null },
      status: {},
    });
    assert.deepEqual(roundTrip(`${META}.Condition`, { type: "T", status: "", lastTransitionTime: null }), {
      ...{ type: "T", status: "", lastTransitionTime: null, reason: "", message: "" },
    });
    assert.deepEqual(roundTrip(`${CORE}.Secret`, { data: { empty: "", none: null } }), {
      ...{ metadata: {}, data: { empty: "", none: null } },
    });
  });

  test("writes values of the wrong type as zero", () => {
    const value = { name: 1, generation: "x", labels: ["a"], finalizers: "f", creationTimestamp: "soon" };
    assert.deepEqual(roundTrip(`${META}.ObjectMeta`, value), {});
    assert.deepEqual(roundTrip(`${CORE}.Pod`, { metadata: null, spec: "x" }), {
      ...{ metadata: {}, spec: { containers: null }, status: {} },
    });
  });

  test("skips unknown fields of any type", () => {
    const fields = [
      [0xa0, 0x06, 0x96, 0x01],
      [0xa1, 0x06, 1, 2, 3, 4, 5, 6, 7, 8],
      [0xa2, 0x06, 2, 9, 9],
      [0xa3, 0x06, 0x08, 1, 0x13, 0x14, 0xa4, 0x06],
      [0xa5, 0x06, 1, 2, 3, 4],
    ];
    const bytes = Buffer.from([...fields.flat(), 0x0a, 1, 0x61]);
    assert.deepEqual(decodeMessage(schemaOf(`${META}.StatusCause`), bytes), { reason: "a" });
  });

  test("accepts packed numbers", () => {
    const component = "io.k8s.api.batch.v1.PodFailurePolicyOnExitCodesRequirement";
    const { properties } = schemaOf(component);
    const number = properties?.get("values")?.proto?.number ?? 0;
    const bytes = Buffer.of(number * 8 + 2, 3, 1, 0x80, 0x01, number * 8, 5);
    assert.deepEqual(decodeMessage(schemaOf(component), bytes).values, [1, 128, 5]);
  });

  test("errors have the messages of kube-apiserver", () => {
    const refusals: readonly (readonly [bytes: readonly number[], message: string])[] = [
      [[0x08, 0x08], "proto: wrong wireType = 0 for field Reason"],
      [[0x0a, 0x05, 0x61], "unexpected EOF"],
      [[0x0a], "unexpected EOF"],
      [[0x04], "proto: StatusCause: wiretype end group for non-group"],
      [[0x00, 0x08], "proto: StatusCause: illegal tag 0 (wire type 0)"],
      [[0xa7, 0x06], "proto: illegal wireType 7"],
      [[0xa0, 0x06, ...new Array(11).fill(0xff)], "proto: integer overflow"],
      [[0x0a, ...new Array(9).fill(0xff), 1], "proto: negative length found during unmarshaling"],
    ];
    for (const [bytes, message] of refusals) {
      assert.throws(() => decodeMessage(schemaOf(`${META}.StatusCause`), Buffer.from(bytes)), { message });
    }
  });

  test("limits the nesting depth", () => {
    let bytes = Buffer.of();
    const props = schemaOf("io.k8s.apiextensions-apiserver.pkg.apis.apiextensions.v1.JSONSchemaProps");
    const number = props.properties?.get("not")?.proto?.number ?? 0;
    const lengthOf = (size: number): number[] => (size < 128 ? [size] : [(size & 127) | 128, size >> 7]);
    for (let depth = 0; depth < 2000; depth++) {
      bytes = Buffer.concat([
        Buffer.of(((number * 8 + 2) & 127) | 128, (number * 8 + 2) >> 7, ...lengthOf(bytes.length)),
        bytes,
      ]);
    }
    assert.throws(() => decodeMessage(props, bytes), { message: "exceeded max depth" });
  });

  test("a schema without fields is an empty message", () => {
    const subresources = "io.k8s.apiextensions-apiserver.pkg.apis.apiextensions.v1.CustomResourceSubresources";
    assert.deepEqual(roundTrip(subresources, { status: {} }), { status: {} });
    assert.deepEqual(roundTrip(subresources, {}), {});
  });
});
