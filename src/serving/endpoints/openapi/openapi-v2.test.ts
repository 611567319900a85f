import assert from "node:assert/strict";
import { suite, test } from "node:test";
import { setImmediate } from "node:timers/promises";
import type { JsonObject } from "../../../base/api/object.ts";
import type { Schema } from "../../../data/schema/schema.ts";
import { builtInKinds } from "../../../kinds/built-in/all.ts";
import { findBuiltInSchema } from "../../../kinds/schema-files/built-in-schemas.ts";
import { findDescription } from "../../../kinds/schema-files/descriptions.ts";
import type { ResourceDefinition } from "../../../resources/model/definition.ts";
import { pacer } from "../../../resources/pace.ts";
import { encodeSwagger } from "./gnostic-v2.ts";
import { swaggerLibrary } from "./openapi-v2.ts";
import { customDefinition } from "./openapi-v2-schemas.ts";
import type { Document } from "./openapi-v3.ts";

// biome-ignore lint/suspicious/noExplicitAny: documents are explored freely
type Swagger = any;

const builtIn = builtInKinds();
const parse = (document: Document): Swagger => JSON.parse(new TextDecoder().decode(document.json));

function library(definitions: () => readonly ResourceDefinition[] = () => builtIn): () => Promise<Document> {
  return swaggerLibrary({ definitions, component: findBuiltInSchema, descriptions: findDescription, release: "1.37" });
}

function widgets(schema: Schema): ResourceDefinition {
  return {
    group: "stable.example.com",
    kind: "Widget",
    listKind: "WidgetList",
    plural: "widgets",
    singular: "widget",
    shortNames: [],
    categories: [],
    scope: "Namespaced",
    verbs: ["create", "delete", "get", "list", "patch", "update", "watch"],
    reading: "structural",
    versions: [{ name: "v1", schemaName: "com.example.stable.v1.Widget", schema: () => schema }],
    subresources: {},
    rules: {},
  };
}

suite("the version 2 document", async () => {
  const document = await library()();
  const swagger = parse(document);

  test("has version and title", () => {
    const { info, security, securityDefinitions } = swagger;
    assert.equal(swagger.swagger, "2.0");
    assert.deepEqual(info, { title: "Kubernetes", version: "1.37" });
    assert.deepEqual(security, [{ BearerToken: [] }]);
    assert.equal(securityDefinitions.BearerToken.type, "apiKey");
  });

  test("resolves every reference and references every schema", () => {
    const used: Record<string, Set<string>> = { definitions: new Set(), parameters: new Set() };
    for (const [, section = "", name = ""] of JSON.stringify(swagger).matchAll(/"\$ref":"#\/([a-z]+)\/([^"]+)"/g)) {
      used[section]?.add(name);
    }
    for (const [section, names] of Object.entries(used)) {
      assert.deepEqual([...names].sort(), Object.keys(swagger[section]).sort(), section);
    }
  });

  test("operations list their parameters and media types", () => {
    const path = swagger.paths["/apis/apps/v1/namespaces/{namespace}/deployments/{name}"];
    const { patch } = path;
    assert.deepEqual(patch.consumes, [
      "application/json-patch+json",
      "application/merge-patch+json",
      "application/strategic-merge-patch+json",
      "application/apply-patch+yaml",
    ]);
    const mediaTypes = ["application/json", "application/yaml", "application/vnd.kubernetes.protobuf"];
    assert.deepEqual(patch.produces, mediaTypes);
    assert.deepEqual(path.get.consumes, ["*/*"]);
    const names = patch.parameters.map((one: JsonObject) => one.name ?? String(one.$ref).replace(/-.{8}$/, ""));
    const shared = (name: string): string => `#/parameters/${name}`;
    // Parameters that older clients look up are not shared.
    assert.deepEqual(names, [shared("body"), "dryRun", shared("fieldManager"), "fieldValidation", shared("force")]);
    assert.deepEqual(patch["x-kubernetes-group-version-kind"], { group: "apps", kind: "Deployment", version: "v1" });
    assert.deepEqual(path.put.parameters[0], {
      name: "body",
      in: "body",
      required: true,
      schema: { $ref: "#/definitions/io.k8s.api.apps.v1.Deployment" },
    });
    assert.deepEqual(path.put.responses["201"], {
      description: "Created",
      schema: { $ref: "#/definitions/io.k8s.api.apps.v1.Deployment" },
    });
  });

  test("schemas have no defaults and no alternatives", () => {
    const shape = (name: string) => swagger.definitions[`io.k8s.${name}`];
    assert.deepEqual(shape("api.apps.v1.DeploymentSpec").properties.strategy, {
      description: "How old pods are replaced by new ones.",
      $ref: "#/definitions/io.k8s.api.apps.v1.DeploymentStrategy",
      "x-kubernetes-patch-strategy": "retainKeys",
    });
    const facts = (name: string) => ({ ...shape(name), description: undefined });
    const intOrString = { description: undefined, type: "string", format: "int-or-string" };
    assert.deepEqual(facts("apimachinery.pkg.util.intstr.IntOrString"), intOrString);
    assert.deepEqual(facts("apimachinery.pkg.api.resource.Quantity"), { description: undefined, type: "string" });
    const kinds = shape("apimachinery.pkg.apis.meta.v1.DeleteOptions")["x-kubernetes-group-version-kind"];
    assert.ok(kinds.some(({ group }: JsonObject) => group === ""));
    assert.ok(kinds.some(({ group }: JsonObject) => group === "apps"));
  });

  test("the protobuf encoding in pieces equals that of the whole", async () => {
    assert.deepEqual(await document.binary(), Buffer.from(encodeSwagger("Document", swagger)));
  });
});

suite("custom resources in version 2", () => {
  const text: JsonObject = { type: "string" };
  const integer: JsonObject = { type: "integer" };

  test("omits constructs that older clients misunderstand", async () => {
    const properties = {
      a: { type: "string", default: "x", enum: ["x", "y"] },
      n: { type: "string", nullable: true },
      nm: { type: "object", nullable: true, properties: { q: text } },
      port: { anyOf: [integer, text], "x-kubernetes-int-or-string": true },
      obj: { type: "object", properties: { q: text }, "x-kubernetes-preserve-unknown-fields": true },
      list: { type: "array", items: text, "x-kubernetes-preserve-unknown-fields": true },
      labels: { type: "object", required: ["k"], additionalProperties: { type: "string", nullable: true } },
      free: { type: "object", additionalProperties: true },
      comb: { type: "object", allOf: [{ properties: { p: { minLength: 1 } } }], not: { required: ["p"] } },
    };
    assert.deepEqual(await customDefinition({ type: "object", required: ["a", "n"], properties }, pacer()), {
      type: "object",
      required: ["a"],
      properties: {
        a: { type: "string", enum: ["x", "y"] },
        n: {},
        nm: {},
        port: { "x-kubernetes-int-or-string": true },
        obj: { "x-kubernetes-preserve-unknown-fields": true },
        list: { "x-kubernetes-preserve-unknown-fields": true },
        labels: { type: "object", additionalProperties: {} },
        free: { type: "object", additionalProperties: true },
        comb: { type: "object" },
      },
    });
  });

  test("embedded objects", async () => {
    const metadata = { allOf: [{ $ref: "#/components/schemas/Meta" }] };
    const members = { apiVersion: text, kind: text, metadata };
    const published = { apiVersion: text, kind: text, metadata: { $ref: "#/definitions/Meta" } };
    const required = ["kind", "apiVersion"];
    const embedded = { type: "object", required, "x-kubernetes-embedded-resource": true };
    const marks = { "x-kubernetes-embedded-resource": true };
    const open = { "x-kubernetes-preserve-unknown-fields": true };
    const convert = async (schema: JsonObject) => {
      const { properties } = await customDefinition({ type: "object", properties: { t: schema } }, pacer());
      return (properties as JsonObject).t;
    };
    assert.deepEqual(await convert({ ...embedded, properties: { ...members, spec: text } }), {
      ...embedded,
      properties: { ...published, spec: text },
    });
    assert.deepEqual(await convert({ ...embedded, ...open, properties: members }), { ...marks, ...open });
    assert.deepEqual(await convert({ ...embedded, nullable: true, properties: { ...members, spec: text } }), {
      ...marks,
      required,
      properties: published,
    });
  });

  test("an object that preserves unknown fields is a plain object", async () => {
    const kinds = [{ group: "g", kind: "K", version: "v1" }];
    const schema = { "x-kubernetes-preserve-unknown-fields": true, "x-kubernetes-group-version-kind": kinds };
    assert.deepEqual(await customDefinition({ type: "object", properties: { q: text }, ...schema }, pacer()), {
      type: "object",
      "x-kubernetes-group-version-kind": kinds,
    });
  });

  test("are added and removed with their kinds, without other changes", async () => {
    let definitions: readonly ResourceDefinition[] = builtIn;
    const get = library(() => definitions);
    const before = await get();
    assert.equal(await get(), before);

    definitions = [...builtIn, widgets({ type: "object", properties: new Map([["size", { type: "integer" }]]) })];
    const withWidgets = parse(await get());
    const path = "/apis/stable.example.com/v1/namespaces/{namespace}/widgets/{name}";
    assert.deepEqual(withWidgets.paths[path].get.consumes, ["application/json", "application/yaml"]);
    const widget = withWidgets.definitions["com.example.stable.v1.Widget"];
    assert.deepEqual(widget.properties.size, { type: "integer" });
    const { description, ...metadata } = widget.properties.metadata;
    assert.match(description, /^Standard object's metadata/);
    assert.deepEqual(metadata, { $ref: "#/definitions/io.k8s.apimachinery.pkg.apis.meta.v1.ObjectMeta" });

    definitions = [...builtIn];
    const after = await get();
    assert.notEqual(after, before);
    assert.equal(after.hash, before.hash);
  });
});

test("concurrent requests share the work and do not block others", async () => {
  let turns = 0;
  let isDone = false;
  const watching = (async () => {
    for (; !isDone; turns++) await setImmediate();
  })();
  const get = library();
  const [first, second] = await Promise.all([get(), get()]);
  isDone = true;
  await watching;
  assert.equal(first, second);
  assert.ok(turns > 3, `${turns} turns`);
});

test("a failure is not cached", async () => {
  let isBroken = true;
  const get = swaggerLibrary({
    definitions: () => builtIn,
    component: (name) => {
      if (isBroken && name.endsWith(".Pod")) throw new Error("not readable");
      return findBuiltInSchema(name);
    },
    descriptions: findDescription,
    release: "1.37",
  });
  await assert.rejects(get(), /not readable/);
  isBroken = false;
  assert.ok((await get()).json.length > 0);
});
