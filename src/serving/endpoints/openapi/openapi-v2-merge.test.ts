import assert from "node:assert/strict";
import { suite, test } from "node:test";
import type { Json, JsonObject } from "../../../base/api/object.ts";
import { swaggerPaths } from "../../../data/schema/swagger-paths.ts";
import { entryOf, mergeSwagger, type Sections } from "./openapi-v2-merge.ts";

const KINDS = "x-kubernetes-group-version-kind";
const ref = (name: string): JsonObject => ({ $ref: `#/definitions/${name}` });
const reading = (schema: JsonObject): JsonObject => ({ get: { responses: { 200: { description: "OK", schema } } } });

function sectionsOf(document: { readonly [section: string]: JsonObject }): Sections {
  const section = (name: string) =>
    new Map(Object.entries(document[name] ?? {}).map(([key, value]) => [key, entryOf(key, value as Json)]));
  return { paths: section("paths"), definitions: section("definitions"), parameters: section("parameters") };
}

function shown(sections: Sections): JsonObject {
  const text = (name: keyof Sections) =>
    [...sections[name].values()].map(({ json }) => new TextDecoder().decode(json)).join();
  return JSON.parse(`{"paths":{${text("paths")}},"definitions":{${text("definitions")}}}`) as JsonObject;
}

function merged(own: { readonly [section: string]: JsonObject }, other: JsonObject): JsonObject {
  const sections = sectionsOf(own);
  mergeSwagger(sections, swaggerPaths(other) ?? assert.fail("no paths"));
  return shown(sections);
}

suite("merging the OpenAPI v2 document of an aggregated server", () => {
  test("shares schemas that differ only in their kinds, and adds new ones", () => {
    const kinds = (...groups: string[]) => groups.map((group) => ({ group, kind: "A", version: "v1" }));
    const own = { definitions: { A: { type: "object", [KINDS]: kinds("b", "d") } } };
    const other = {
      paths: { "/x": reading(ref("A")) },
      definitions: { A: { type: "object", [KINDS]: kinds("c", "d") } },
    };
    const { paths, definitions } = merged(own, other);
    assert.deepEqual(definitions, { A: { type: "object", [KINDS]: kinds("b", "c", "d") } });
    assert.deepEqual(paths, other.paths);
  });

  test("renames a differing schema to an unused name, or to that of an equal schema merged before", () => {
    const own = { definitions: { A: { type: "string" }, A_v2: { type: "boolean" }, B: {}, B_v2: { type: "integer" } } };
    const other = {
      paths: { "/x": reading(ref("A")) },
      definitions: {
        A: { type: "object", properties: { b: ref("B") } },
        A_v3: { type: "number" },
        B: { type: "integer" },
      },
    };
    const { paths, definitions } = merged(own, other);
    assert.deepEqual(definitions, {
      ...own.definitions,
      A_v4: { type: "object", properties: { b: ref("B_v2") } },
      A_v3: { type: "number" },
    });
    assert.deepEqual(paths, { "/x": reading(ref("A_v4")) });
  });

  test("keeps existing paths and adds no schemas for them", () => {
    const own = { paths: { "/x": reading({}) } };
    const other = {
      paths: { "/x": reading(ref("A")), "/y": reading(ref("B")) },
      definitions: { A: {}, B: { allOf: [ref("C")] }, C: {}, unused: {} },
    };
    const { paths, definitions } = merged(own, other);
    assert.deepEqual(paths, { "/x": reading({}), "/y": reading(ref("B")) });
    assert.deepEqual(Object.keys(definitions as JsonObject), ["B", "C", "unused"]);
  });

  test("is rejected if its sections are not maps of objects", () => {
    for (const paths of ["x", ["x"], { "/x": "y" }]) assert.throws(() => swaggerPaths({ paths }));
    assert.equal(swaggerPaths({ definitions: {} }), undefined);
  });
});
