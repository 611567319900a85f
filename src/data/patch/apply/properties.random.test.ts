import assert from "node:assert/strict";
import { suite, test } from "node:test";
import { fc } from "../../../../test/support/random.ts";
import { ApiError } from "../../../base/api/api-error.ts";
import { isObject, type Json, type JsonObject, type KubeObject } from "../../../base/api/object.ts";
import { builtInSchema } from "../../../kinds/schema-files/built-in-schemas.ts";
import type { Schema } from "../../schema/schema.ts";
import { applyPatch } from "./apply-patch.ts";
import { compare, isSame } from "./compare.ts";
import { difference, type FieldSet, intersection, isEmpty, leaves, pathsOf, sameSet, union } from "./field-set.ts";
import { merge } from "./merge.ts";
import type { TrackingScope } from "./scope.ts";
import { setOf } from "./set-of.ts";
import { type Shape, shapeOf } from "./shape.ts";
import { trackUpdate } from "./track-update.ts";
import { sameValue, typedValue } from "./typed.ts";
import { requireShape } from "./validate.ts";

const now = "2030-01-01T00:00:00Z";
const word = fc.constantFrom("a", "b", "c");

interface Sample {
  readonly schema: Schema;
  readonly values: fc.Arbitrary<JsonObject>;
}

/** A random schema together with values that match it. */
const leafSample = fc.constantFrom<[Schema, fc.Arbitrary<Json>]>(
  [{ type: "string" }, word],
  [{ type: "integer" }, fc.integer({ min: 0, max: 2 })],
  [{ type: "boolean" }, fc.boolean()],
  [{ type: "array", items: { type: "string" } }, fc.array(word, { maxLength: 2 })],
  [{ type: "array", listType: "set", items: { type: "string" } }, fc.uniqueArray(word, { maxLength: 3 })],
  [{ type: "object", values: { type: "string" } }, fc.dictionary(word, word, { maxKeys: 3 })],
  [{ type: "object", mapType: "atomic", values: { type: "string" } }, fc.dictionary(word, word, { maxKeys: 2 })],
  [{ type: "object", preserveUnknownFields: true }, fc.dictionary(word, fc.oneof(word, fc.dictionary(word, word)))],
);

function sampleOf(depth: number): fc.Arbitrary<[Schema, fc.Arbitrary<Json>]> {
  if (depth === 0) return leafSample;
  const struct = structSample(depth).map(({ schema, values }): [Schema, fc.Arbitrary<Json>] => [schema, values]);
  const list = structSample(depth).map(({ schema, values }): [Schema, fc.Arbitrary<Json>] => {
    const properties = new Map([["name", { type: "string" } as Schema], ...(schema.properties ?? [])]);
    const items: Schema = { type: "object", properties };
    const item = fc.tuple(word, values).map(([name, rest]): JsonObject => ({ ...rest, name }));
    const unique = fc.uniqueArray(item, { maxLength: 3, selector: (one) => one.name });
    return [{ type: "array", listType: "map", listMapKeys: ["name"], items }, unique];
  });
  return fc.oneof(leafSample, struct, list);
}

function structSample(depth: number): fc.Arbitrary<Sample> {
  const fields = fc.uniqueArray(fc.tuple(fc.constantFrom("x", "y", "z"), sampleOf(depth - 1)), {
    minLength: 1,
    maxLength: 3,
    selector: ([name]) => name,
  });
  return fields.map((all) => ({
    schema: { type: "object", properties: new Map(all.map(([name, [schema]]) => [name, schema])) },
    values: fc.record(Object.fromEntries(all.map(([name, [, values]]) => [name, values])), {
      requiredKeys: [],
    }) as fc.Arbitrary<JsonObject>,
  }));
}

/** A random schema and some values of it. */
const random = structSample(3).chain(({ schema, values }) =>
  fc.tuple(fc.constant(shapeOf(schema)), fc.constant(schema), values, values, values),
);

const metadata: Schema = builtInSchema("io.k8s.apimachinery.pkg.apis.meta.v1.ObjectMeta");
function scopeOf(schema: Schema): TrackingScope {
  const text: Schema = { type: "string" };
  const root: Schema = {
    type: "object",
    properties: new Map([
      ["apiVersion", text],
      ["kind", text],
      ["metadata", metadata],
      ["spec", schema],
    ]),
  };
  return { apiVersion: "g/v1", kind: "K", isUnstructured: true, schemaOf: () => root, convert: () => undefined };
}
const applied = (spec: JsonObject): JsonObject => ({ apiVersion: "g/v1", kind: "K", metadata: { name: "n" }, spec });
const send = (scope: TrackingScope, live: KubeObject | undefined, body: JsonObject, manager: string, isForced = true) =>
  applyPatch(scope, { live, applied: body, manager, isForced, now });

const OTHER = { "f:metadata": { "f:annotations": { "f:other": {} } } };

const ownedBy = (object: KubeObject, manager: string): FieldSet => {
  const entries = (object.metadata.managedFields ?? []) as JsonObject[];
  return (entries.find((one) => one.manager === manager)?.fieldsV1 ?? {}) as FieldSet;
};
const unordered = (value: Json): Json => {
  if (Array.isArray(value)) return value.map((one) => JSON.stringify(unordered(one))).sort();
  if (!isObject(value)) return value;
  return Object.fromEntries(
    Object.keys(value)
      .sort()
      .map((name) => [name, unordered(value[name] ?? null)]),
  );
};

suite("for random schemas and values", () => {
  test("a value equals itself, and merging it changes nothing", () => {
    fc.assert(
      fc.property(random, ([shape, , value]) => {
        requireShape(shape, value);
        assert.ok(isSame(compare(shape, value, structuredClone(value))));
        assert.ok(sameValue(merge(shape, value, structuredClone(value)), Object.keys(value).length > 0 ? value : {}));
      }),
    );
  });

  test("swapping the sides swaps added and removed fields", () => {
    fc.assert(
      fc.property(random, ([shape, , left, right]) => {
        const there = compare(shape, left, right);
        const back = compare(shape, right, left);
        assert.ok(sameSet(there.added, back.removed));
        assert.ok(sameSet(there.modified, back.modified));
        assert.ok(isEmpty(intersection(there.added, union(there.modified, there.removed))));
      }),
    );
  });

  test("a merge contains everything that was applied", () => {
    fc.assert(
      fc.property(random, ([shape, , live, body]) => {
        const merged = merge(shape, live, body);
        // An empty object has no effect on existing members.
        for (const path of pathsOf(difference(leaves(setOf(shape, body)), setOf(shape, merged)))) {
          assert.ok(isEmptyAt(body, path), path.join(" "));
        }
        assert.ok(sameValue(merge(shape, merged, body), merged));
      }),
    );
  });

  test("applying twice is like applying once", () => {
    fc.assert(
      fc.property(random, ([, schema, first, second]) => {
        const scope = scopeOf(schema);
        const live = send(scope, send(scope, undefined, applied(first), "a"), applied(second), "b");
        assert.deepEqual(send(scope, live, applied(second), "b"), live);
      }),
    );
  });

  test("removes fields that a manager no longer applies, unless another manager owns them", () => {
    fc.assert(
      fc.property(random, ([, schema, first, second, third]) => {
        const scope = scopeOf(schema);
        const shape = shapeOf(scope.schemaOf("") ?? {});
        const live = send(scope, send(scope, undefined, applied(first), "a"), applied(second), "b");
        const before = ownedBy(live, "b");
        const after = send(scope, live, applied(third), "b");
        const kept = union(ownedBy(after, "a"), ownedBy(after, "b"));
        const there = setOf(shape, typedValue(shape, withoutNulls(after)) as JsonObject);
        const dropped = difference(leaves(before), kept);
        for (const path of pathsOf(intersection(dropped, leaves(there))))
          assert.fail(`${path.join(" ")} was not removed`);
      }),
    );
  });

  test("applying all earlier fields again has the same result with and without pruning", () => {
    fc.assert(
      fc.property(random, fc.boolean(), ([, schema, first, second, third], isAll) => {
        const scope = { ...scopeOf(schema), convert: (object: KubeObject) => object };
        const live = send(scope, send(scope, undefined, applied(first), "a"), applied(second), "b");
        const body = applied(isAll ? merge(shapeOf(schema), second, third) : third);
        // With a manager of another version, the shortcut does not apply.
        const other = {
          manager: "o",
          operation: "Update",
          apiVersion: "g/v0",
          fieldsType: "FieldsV1",
          fieldsV1: OTHER,
        };
        const managedFields = [...(live.metadata.managedFields ?? []), other];
        const searched = send(scope, { ...live, metadata: { ...live.metadata, managedFields } }, body, "b");
        const after = send(scope, live, body, "b");
        assert.deepEqual(after.spec, searched.spec);
        for (const manager of ["a", "b"]) assert.deepEqual(ownedBy(after, manager), ownedBy(searched, manager));
      }),
    );
  });

  test("the result of managers with different fields does not depend on their order", () => {
    fc.assert(
      fc.property(random, ([shape, schema, first, second]) => {
        const mine = Object.fromEntries(Object.entries(first).filter(([name]) => name === "x"));
        const other = Object.fromEntries(Object.entries(second).filter(([name]) => name !== "x"));
        fc.pre(isEmpty(intersection(setOf(shape, mine), setOf(shape, other))));
        const scope = scopeOf(schema);
        const one = send(scope, send(scope, undefined, applied(mine), "a"), applied(other), "b", false);
        const two = send(scope, send(scope, undefined, applied(other), "b"), applied(mine), "a", false);
        assert.deepEqual(unordered(one.spec ?? null), unordered(two.spec ?? null));
        for (const manager of ["a", "b"]) assert.ok(sameSet(ownedBy(one, manager), ownedBy(two, manager)));
      }),
    );
  });

  test("without force, an apply is rejected or takes no field from another manager", () => {
    fc.assert(
      fc.property(random, ([, schema, first, second]) => {
        const scope = scopeOf(schema);
        const live = send(scope, undefined, applied(first), "a");
        try {
          const after = send(scope, live, applied(second), "b", false);
          assert.ok(sameSet(ownedBy(after, "a"), ownedBy(live, "a")));
        } catch (error) {
          assert.ok(error instanceof ApiError && error.code === 409);
        }
      }),
    );
  });

  test("a create is owned like an apply of the same content, by its manager alone", () => {
    fc.assert(
      fc.property(random, ([, schema, value]) => {
        const scope = scopeOf(schema);
        const next = applied(value) as KubeObject;
        const [entry] = (trackUpdate(scope, { live: undefined, next, manager: "m", now }).managedFields ??
          []) as JsonObject[];
        const created = (entry?.fieldsV1 ?? {}) as FieldSet;
        const shape: Shape = shapeOf(scope.schemaOf("") ?? {});
        const wanted = difference(setOf(shape, { spec: value }), {});
        assert.ok(isEmpty(difference(wanted, created)));
        // An update also owns the containers that it adds.
        const containers = difference(leaves(created), wanted);
        for (const path of pathsOf(containers)) assert.ok(isEmptyAt(next, path), path.join(" "));
      }),
    );
  });
});

function withoutNulls(value: Json): JsonObject {
  const clean = (one: Json): Json => {
    if (Array.isArray(one)) return one.map(clean);
    if (typeof one !== "object" || one === null) return one;
    return Object.fromEntries(
      Object.entries(one).flatMap(([name, member]) =>
        member === null || member === undefined ? [] : [[name, clean(member)]],
      ),
    );
  };
  const { metadata: _, ...rest } = clean(value) as JsonObject;
  return rest;
}

function isEmptyAt(object: JsonObject, path: readonly string[]): boolean {
  let value: Json | undefined = object;
  for (const element of path) {
    if (Array.isArray(value)) {
      const key = JSON.parse(element.slice(2));
      value = value.find((one) => sameValue(one, key) || (one as JsonObject).name === key.name);
    } else value = (value as JsonObject)[element.slice(2)];
  }
  return value !== null && typeof value === "object" && Object.keys(value).length === 0;
}

suite("for real kinds", () => {
  const env = fc.uniqueArray(fc.record({ name: word, value: word }, { requiredKeys: ["name"] }), {
    selector: (one) => one.name,
    maxLength: 3,
  });
  const ports = fc.uniqueArray(
    fc.record({ containerPort: fc.constantFrom(80, 443), protocol: fc.constantFrom("TCP", "UDP") }),
    {
      selector: (one) => `${one.containerPort}${one.protocol}`,
      maxLength: 3,
    },
  );
  const container = fc.record(
    { name: word, image: word, env, ports, args: fc.array(word) },
    { requiredKeys: ["name"] },
  );
  const podSpec = fc.record(
    {
      containers: fc.uniqueArray(container, { selector: (one) => one.name, minLength: 1, maxLength: 3 }),
      nodeSelector: fc.dictionary(word, word),
      hostNetwork: fc.boolean(),
    },
    { requiredKeys: [] },
  );
  const meta = fc.record({ labels: fc.dictionary(word, word), finalizers: fc.uniqueArray(word) }, { requiredKeys: [] });
  const bodies: [apiVersion: string, kind: string, component: string, content: fc.Arbitrary<JsonObject>][] = [
    [
      "v1",
      "ConfigMap",
      "io.k8s.api.core.v1.ConfigMap",
      fc.record({ data: fc.dictionary(word, word) }, { requiredKeys: [] }),
    ],
    [
      "v1",
      "Pod",
      "io.k8s.api.core.v1.Pod",
      fc.record({ spec: podSpec }, { requiredKeys: [] }) as fc.Arbitrary<JsonObject>,
    ],
    [
      "v1",
      "Service",
      "io.k8s.api.core.v1.Service",
      fc.record({
        spec: fc.record({ selector: fc.dictionary(word, word), type: word }, { requiredKeys: [] }),
      }) as fc.Arbitrary<JsonObject>,
    ],
    [
      "apps/v1",
      "Deployment",
      "io.k8s.api.apps.v1.Deployment",
      fc.record({
        spec: fc.record(
          { replicas: fc.integer({ min: 0, max: 2 }), template: fc.record({ spec: podSpec }) },
          { requiredKeys: [] },
        ),
      }) as fc.Arbitrary<JsonObject>,
    ],
  ];
  for (const [apiVersion, kind, component, content] of bodies) {
    const scope: TrackingScope = {
      apiVersion,
      kind,
      schemaOf: (one) => (one === apiVersion ? builtInSchema(component) : undefined),
      convert: () => undefined,
    };
    const body = fc
      .tuple(content, meta)
      .map(([rest, more]): JsonObject => ({ apiVersion, kind, metadata: { name: "n", ...more }, ...rest }));
    // The object after storing: zero values are removed or added.
    const stored = (object: KubeObject): KubeObject =>
      typedValue(shapeOf(builtInSchema(component)), structuredClone(object)) as KubeObject;

    test(`${kind}: applying twice is like applying once`, () => {
      fc.assert(
        fc.property(body, body, (first, second) => {
          const live = stored(send(scope, stored(send(scope, undefined, first, "a")), second, "b"));
          const again = stored(send(scope, live, second, "b"));
          assert.deepEqual(again, live);
        }),
      );
    });

    test(`${kind}: changes of an update belong to its manager alone`, () => {
      fc.assert(
        fc.property(body, body, (first, second) => {
          const start = stored(first as KubeObject);
          start.metadata.managedFields = trackUpdate(scope, {
            live: undefined,
            next: start,
            manager: "a",
            now,
          }).managedFields;
          const next = stored(second as KubeObject);
          next.metadata.managedFields = trackUpdate(scope, { live: start, next, manager: "b", now }).managedFields;
          const fields = union(ownedBy(next, "a"), ownedBy(next, "b"));
          const shape = shapeOf(builtInSchema(component));
          const changed = compare(shape, start, next);
          assert.ok(isEmpty(difference(intersection(fields, changed.removed), union(changed.added, changed.modified))));
          assert.ok(isEmpty(intersection(ownedBy(next, "a"), union(changed.added, changed.modified))));
        }),
      );
    });
  }
});
