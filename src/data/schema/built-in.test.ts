import assert from "node:assert/strict";
import { test } from "node:test";
import { schemaFileName, schemaLibrary } from "./built-in.ts";
import type { Schema } from "./schema.ts";

const files: Readonly<Record<string, string>> = {
  "toys_v1.json": JSON.stringify({
    package: "com.example.toys.v1",
    components: {
      Box: {
        kinds: [["toys", "v1", "Box"]],
        required: ["size"],
        fields: {
          kind: "string",
          size: { is: "1 int32!", default: 3 },
          label: { is: "2 *string", enum: ["a", "b"] },
          inner: "3.1 *.Box",
          parts: {
            is: "4 []com.example.other.v2.Part",
            list: "map",
            keys: ["name"],
            patch: "merge,retainKeys",
            mergeKey: "name",
          },
          colours: { is: "5 []string!", elementEnum: ["red"] },
          extra: "6 {}[1]string",
          weight: "7 .Weight!",
          part: "8 com.example.other.v2.Part!",
          lid: { is: "9 .Lid!", map: "granular", default: null },
        },
      },
      Lid: { map: "atomic", fields: { open: "1 bool" } },
      Weight: { wire: "quantity", oneOf: ["string", "number"] },
      Any: { wire: "schema-or-array", like: ".Box", items: ".Box" },
    },
  }),
  "other_v2.json": JSON.stringify({
    package: "com.example.other.v2",
    components: { Part: { fields: { name: "1 string" } } },
  }),
};

function library(reads: string[] = []) {
  return schemaLibrary((fileName) => {
    reads.push(fileName);
    return files[fileName];
  });
}

function field(schema: Schema | undefined, ...path: string[]): Schema {
  let node = schema;
  for (const name of path) node = node?.properties?.get(name);
  assert.ok(node, path.join("."));
  return node;
}

test("derives the file name of a component from its package", () => {
  assert.equal(schemaFileName("io.k8s.api.core.v1"), "core_v1.json");
  assert.equal(schemaFileName("io.k8s.apimachinery.pkg.api.resource"), "api_resource.json");
});

test("reads a file once, when one of its components is first needed", () => {
  const reads: string[] = [];
  const find = library(reads);
  assert.deepEqual(reads, []);
  const box = find("com.example.toys.v1.Box");
  assert.deepEqual(reads, ["toys_v1.json"]);
  assert.ok(box?.properties);
  assert.equal(find("com.example.toys.v1.Box"), box);
  assert.equal(find("com.example.toys.v1.Missing"), undefined);
  assert.equal(find("com.example.toys.v1.constructor"), undefined);
  assert.equal(find("com.example.nowhere.v1.Box"), undefined);
  assert.deepEqual(reads, ["toys_v1.json", "other_v2.json", "nowhere_v1.json"]);
});

test("a field combines its own properties with those of its type", () => {
  const box = library()("com.example.toys.v1.Box");
  assert.deepEqual(field(box, "kind"), { type: "string", zero: "omitted" });
  assert.deepEqual(field(box, "size"), {
    type: "integer",
    format: "int32",
    proto: { number: 1 },
    zero: "written",
    default: 3,
  });
  assert.deepEqual(field(box, "label"), { type: "string", proto: { number: 2 }, enum: ["a", "b"] });
  const parts = field(box, "parts");
  assert.deepEqual(parts.listMapKeys, ["name"]);
  assert.deepEqual(parts.patchStrategy, ["merge", "retainKeys"]);
  assert.equal(parts.items?.component, "com.example.other.v2.Part");
  assert.deepEqual(field(box, "colours").items, { type: "string", enum: ["red"] });
  assert.equal(field(box, "colours").default, undefined);
  assert.deepEqual(field(box, "extra").values, { type: "array", wire: "wrapped-list", items: { type: "string" } });
});

test("an always written field has a published default unless the file overrides it", () => {
  const box = library()("com.example.toys.v1.Box");
  assert.deepEqual(field(box, "part").default, {});
  assert.equal(field(box, "weight").default, undefined);
  assert.equal(field(box, "lid").default, undefined);
  assert.equal(field(box, "lid").mapType, "granular");
  assert.equal(library()("com.example.toys.v1.Lid")?.mapType, "atomic");
});

test("a type may contain itself", () => {
  const box = library()("com.example.toys.v1.Box");
  const inner = field(box, "inner");
  assert.deepEqual(inner.proto, { number: 1, within: [3] });
  assert.equal(inner.properties, box?.properties);
  assert.equal(field(box, "inner", "inner", "inner", "size").format, "int32");
  const any = library()("com.example.toys.v1.Any");
  assert.equal(any?.type, undefined);
  assert.equal(field(any, "size").format, "int32");
  assert.equal(any?.items?.component, "com.example.toys.v1.Box");
});

test("a dangling reference is an error", () => {
  const find = schemaLibrary(() => JSON.stringify({ components: { Bad: { fields: { a: "1 .Missing" } } } }));
  const bad = find("com.example.toys.v1.Bad");
  assert.throws(() => bad?.properties, /com\.example\.toys\.v1\.Missing/);
});
