import assert from "node:assert/strict";
import { createHash } from "node:crypto";
import { test } from "node:test";
import type { Call } from "../../../base/api/call.ts";
import type { JsonObject } from "../../../base/api/object.ts";
import type { ApiReply } from "../../../base/api/reply.ts";
import { ManualClock } from "../../../base/util/environment.suite.ts";
import type { Schema } from "../../../data/schema/schema.ts";
import { builtInKinds } from "../../../kinds/built-in/all.ts";
import { findBuiltInSchema } from "../../../kinds/schema-files/built-in-schemas.ts";
import { findDescription } from "../../../kinds/schema-files/descriptions.ts";
import type { ResourceDefinition } from "../../../resources/model/definition.ts";
import { openApiHandler } from "./openapi.ts";

type Raw = Extract<ApiReply, { type: "raw" }>;
// biome-ignore lint/suspicious/noExplicitAny: documents are explored freely
type Document = any;

const NOW = Date.UTC(2026, 10, 15, 5, 46, 6);
const builtIn = builtInKinds();

const text = (schema: Schema = {}): Schema => ({ type: "string", ...schema });
const custom: ResourceDefinition = {
  group: "stable.example.com",
  kind: "Widget",
  listKind: "WidgetList",
  plural: "widgets",
  singular: "widget",
  shortNames: [],
  categories: [],
  scope: "Namespaced",
  verbs: ["create", "delete", "deletecollection", "get", "list", "patch", "update", "watch"],
  reading: "structural",
  versions: [
    {
      name: "v1",
      schemaName: "com.example.stable.v1.Widget",
      schema: () => ({
        type: "object",
        description: "A widget.",
        properties: new Map<string, Schema>([
          ["port", { intOrString: true }],
          ["mode", text({ enum: ["a", "b"], nullable: true, default: "a" })],
          ["template", { type: "object", embeddedResource: true, properties: new Map([["spec", { type: "object" }]]) }],
          ["labels", { type: "object", values: text() }],
          ["none", { type: "object", forbidsOthers: true }],
          ["items", { type: "array", listType: "map", listMapKeys: ["k"], items: { type: "object", required: ["k"] } }],
        ]),
      }),
    },
  ],
  subresources: {
    scale: { verbs: ["get", "patch", "update"], kind: { group: "autoscaling", version: "v1", kind: "Scale" } },
  },
  rules: {},
};

function server(definitions: () => readonly ResourceDefinition[] = () => builtIn) {
  const handler = openApiHandler({
    definitions,
    component: findBuiltInSchema,
    descriptions: findDescription,
    release: "1.37",
    clock: new ManualClock(NOW),
  });
  return async (url: string, headers: Record<string, string> = {}): Promise<Raw> => {
    const { pathname, searchParams } = new URL(url, "http://localhost");
    const reply = await handler({
      request: { method: "GET", path: pathname, query: searchParams, headers },
    } as unknown as Call);
    assert.equal(reply?.type, "raw");
    return reply as Raw;
  };
}

function parse(reply: Raw): Document {
  assert.equal(reply.code, 200);
  return JSON.parse(typeof reply.body === "string" ? reply.body : new TextDecoder().decode(reply.body));
}

test("the index lists every document with the hash of its bytes", async () => {
  const get = server();
  const reply = await get("/openapi/v3");
  assert.equal(reply.headers["content-type"], "text/plain; charset=utf-8");
  const { paths } = parse(reply);
  const names = Object.keys(paths);
  assert.deepEqual(names, names.toSorted());
  for (const name of ["api", "api/v1", "apis", "apis/apps", "apis/apps/v1", "version", "openid/v1/jwks"]) {
    assert.ok(name in paths, name);
  }
  const url: string = paths["apis/apps/v1"].serverRelativeURL;
  const document = await get(url);
  const hash = createHash("sha512").update(document.body).digest("hex").toUpperCase();
  assert.equal(url, `/openapi/v3/apis/apps/v1?hash=${hash}`);
});

test("every reference in every document resolves, and every schema is used", async () => {
  const get = server();
  for (const name of Object.keys(parse(await get("/openapi/v3")).paths)) {
    const document = parse(await get(`/openapi/v3/${name}`));
    const schemas: JsonObject = document.components.schemas ?? {};
    const used = new Set<string>();
    for (const [, reference = ""] of JSON.stringify(document).matchAll(/"#\/components\/schemas\/([^"]+)"/g))
      used.add(reference);
    assert.deepEqual([...used].sort(), Object.keys(schemas), name);
  }
});

test("operation ids are unique", async () => {
  const get = server();
  for (const name of ["api/v1", "apis/apps/v1", "apis/authorization.k8s.io/v1"]) {
    const document = parse(await get(`/openapi/v3/${name}`));
    const ids = [...JSON.stringify(document.paths).matchAll(/"operationId":"([^"]+)"/g)].map((match) => match[1]);
    assert.equal(new Set(ids).size, ids.length);
  }
});

test("caching: hash, stale hash, entity tag", async () => {
  const get = server();
  const plain = await get("/openapi/v3/apis/batch/v1");
  const hash = (plain.headers.etag ?? "").replaceAll('"', "");
  assert.match(hash, /^[0-9A-F]{128}$/);
  assert.equal(plain.headers.vary, "Accept");
  assert.equal(plain.headers["cache-control"], undefined);

  const fresh = await get(`/openapi/v3/apis/batch/v1?hash=${hash}`);
  assert.equal(fresh.headers["cache-control"], "public, immutable");
  assert.equal(fresh.headers.expires, "Mon, 15 Nov 2027 05:46:06 UTC");

  const stale = await get("/openapi/v3/apis/batch/v1?hash=ABC");
  assert.equal(stale.code, 301);
  assert.equal(stale.headers.location, `/openapi/v3/apis/batch/v1?hash=${hash}`);

  const same = await get("/openapi/v3/apis/batch/v1", { "if-none-match": `"${hash}"` });
  assert.equal(same.code, 304);
  assert.equal(same.body, "");
});

test("answers 404 for unknown documents and 406 for unsupported formats", async () => {
  const get = server();
  for (const path of ["/openapi/v3/", "/openapi/v3/apis/nope/v1", "/openapi/v3/apis/apps/v1/"]) {
    assert.deepEqual(await get(path), { type: "raw", code: 404, headers: {}, body: "" });
  }
  assert.equal((await get("/openapi/v3/apis/apps/v1", { accept: "text/plain" })).code, 406);
  for (const accept of ["application/yaml, application/json", "application/*", "*/*;q=0.1"]) {
    assert.equal((await get("/openapi/v3/apis/apps/v1", { accept })).code, 200);
  }
});

test("version 2 is one document in two formats with one entity tag", async () => {
  const get = server();
  const json = await get("/openapi/v2");
  assert.equal(json.headers["content-type"], "application/json");
  assert.equal(json.headers.vary, "Accept");
  const { etag = "" } = json.headers;
  assert.equal(etag, `"${createHash("sha512").update(json.body).digest("hex").toUpperCase()}"`);
  for (const spelling of [".v1.0", "@v1.0"]) {
    const accept = `application/com.github.proto-openapi.spec.v2${spelling}+protobuf`;
    const binary = await get("/openapi/v2", { accept });
    assert.equal(binary.headers["content-type"], "application/com.github.proto-openapi.spec.v2.v1.0+protobuf");
    assert.equal(binary.headers.etag, etag);
    assert.equal(Buffer.from(binary.body).subarray(2, 5).toString(), "2.0");
    assert.deepEqual(await get("/openapi/v2", { accept, "if-none-match": etag }), {
      type: "raw",
      code: 304,
      headers: { etag, vary: "Accept" },
      body: "",
    });
  }
  for (const accept of ["text/plain", "application/com.github.proto-openapi.spec.v3.v1.0+protobuf", "nonsense"]) {
    assert.deepEqual(await get("/openapi/v2", { accept }), {
      type: "raw",
      code: 406,
      headers: { vary: "Accept" },
      body: "",
    });
  }
});

test("version 3 documents as protobuf", async () => {
  const get = server();
  const json = await get("/openapi/v3/api/v1");
  const accept = "application/com.github.proto-openapi.spec.v3@v1.0+protobuf, application/json;q=0.5";
  const binary = await get("/openapi/v3/api/v1", { accept });
  assert.equal(binary.headers["content-type"], "application/com.github.proto-openapi.spec.v3.v1.0+protobuf");
  assert.equal(binary.headers.etag, json.headers.etag);
  assert.equal((await get("/openapi/v3/api/v1", { accept })).body, binary.body);
  // Field 1 is the OpenAPI version; the sections that follow account for the rest of the bytes.
  const bytes = Buffer.from(binary.body);
  assert.equal(bytes.subarray(2, 7).toString(), "3.0.0");
  const sections: number[] = [];
  for (let at = 0; at < bytes.length; ) {
    sections.push((bytes[at++] ?? 0) >> 3);
    let length = 0;
    for (let shift = 0; ; shift += 7) {
      const byte = bytes[at++] ?? 0;
      length |= (byte & 127) << shift;
      if (byte < 128) break;
    }
    at += length;
    assert.ok(at <= bytes.length);
  }
  assert.deepEqual(sections, [1, 2, 4, 5]);
});

test("returns undefined for other paths", async () => {
  const handler = openApiHandler({
    definitions: () => builtIn,
    component: findBuiltInSchema,
    descriptions: findDescription,
    release: "1.37",
    clock: new ManualClock(NOW),
  });
  for (const path of ["/openapi", "/openapi/", "/openapi/v2/", "/openapi/v3x", "/openapi/v2/apis"]) {
    const call = { request: { method: "GET", path, query: new URLSearchParams(), headers: {} } } as unknown as Call;
    assert.equal(handler(call), undefined, path);
  }
});

test("publishes a patch with the parameters and media types that kubectl looks up", async () => {
  const document = parse(await server()("/openapi/v3/apis/apps/v1"));
  const path = document.paths["/apis/apps/v1/namespaces/{namespace}/deployments/{name}"];
  const { patch } = path;
  assert.equal(patch.operationId, "patchAppsV1NamespacedDeployment");
  assert.equal(patch["x-kubernetes-action"], "patch");
  assert.deepEqual(patch["x-kubernetes-group-version-kind"], { group: "apps", version: "v1", kind: "Deployment" });
  assert.deepEqual(
    patch.parameters.map(({ name }: JsonObject) => name),
    ["dryRun", "fieldManager", "fieldValidation", "force"],
  );
  assert.ok("application/strategic-merge-patch+json" in patch.requestBody.content);
  assert.deepEqual(
    path.parameters.map(({ name }: JsonObject) => name),
    ["name", "namespace", "pretty"],
  );
  const spec = document.components.schemas["io.k8s.api.apps.v1.DeploymentSpec"];
  assert.deepEqual(spec.properties.strategy, {
    description: "How old pods are replaced by new ones.",
    default: {},
    allOf: [{ $ref: "#/components/schemas/io.k8s.api.apps.v1.DeploymentStrategy" }],
    "x-kubernetes-patch-strategy": "retainKeys",
  });
  assert.deepEqual(
    document.components.schemas["io.k8s.apimachinery.pkg.apis.meta.v1.DeleteOptions"][
      "x-kubernetes-group-version-kind"
    ],
    [
      { group: "", kind: "DeleteOptions", version: "v1" },
      { group: "apps", kind: "DeleteOptions", version: "v1" },
    ],
  );
});

test("publishes subresources that connect, return text or have another kind", async () => {
  const { paths } = parse(await server()("/openapi/v3/api/v1"));
  const pod = "/api/v1/namespaces/{namespace}/pods/{name}";
  const exec = paths[`${pod}/exec`];
  assert.deepEqual(Object.keys(exec), ["get", "post", "parameters"]);
  assert.equal(exec.post.operationId, "connectCoreV1PostNamespacedPodExec");
  const names = (item: Document): string[] => item.parameters.map(({ name }: { name: string }) => name);
  assert.deepEqual(names(exec), ["command", "container", "name", "namespace", "stderr", "stdin", "stdout", "tty"]);
  assert.equal(paths[`${pod}/proxy/{path}`].head.operationId, "connectCoreV1HeadNamespacedPodProxyWithPath");
  assert.equal(paths[`${pod}/log`].get.operationId, "readCoreV1NamespacedPodLog");
  assert.ok(names(paths[`${pod}/log`]).includes("tailLines"));
  assert.equal(paths[`${pod}/eviction`].post["x-kubernetes-group-version-kind"].kind, "Eviction");
});

test("publishes custom resources with their own schema and without protobuf", async () => {
  const definitions = [...builtIn, custom];
  const get = server(() => definitions);
  const document = parse(await get("/openapi/v3/apis/stable.example.com/v1"));
  const widget = document.components.schemas["com.example.stable.v1.Widget"];
  assert.equal(widget.description, "A widget.");
  assert.deepEqual(widget["x-kubernetes-group-version-kind"], [
    { group: "stable.example.com", kind: "Widget", version: "v1" },
  ]);
  assert.deepEqual(widget.properties.port, {
    anyOf: [{ type: "integer" }, { type: "string" }],
    "x-kubernetes-int-or-string": true,
  });
  assert.deepEqual(widget.properties.mode, { type: "string", nullable: true, enum: ["a", "b"], default: "a" });
  assert.deepEqual(Object.keys(widget.properties.template.properties), ["apiVersion", "kind", "metadata", "spec"]);
  assert.deepEqual(widget.properties.template.required, ["kind", "apiVersion"]);
  assert.deepEqual(widget.properties.labels, { type: "object", additionalProperties: { type: "string" } });
  assert.deepEqual(widget.properties.none, { type: "object", additionalProperties: false });
  const one = document.paths["/apis/stable.example.com/v1/namespaces/{namespace}/widgets/{name}"];
  assert.equal(one.get.operationId, "readStableExampleComV1NamespacedWidget");
  assert.deepEqual(Object.keys(one.patch.requestBody.content), [
    "application/apply-patch+yaml",
    "application/json-patch+json",
    "application/merge-patch+json",
  ]);
  assert.ok("io.k8s.api.autoscaling.v1.Scale" in document.components.schemas);
  assert.equal((await get("/openapi/v3/apis/stable.example.com")).code, 404);
});

test("publishes a custom resource while its definition is established", async () => {
  const presence = { isEstablished: false, establishedMs: 0, isShared: false, isTerminating: false };
  const definitions = [...builtIn, { ...custom, presence }];
  const get = server(() => definitions);
  const path = "/openapi/v3/apis/stable.example.com/v1";
  const name = "com.example.stable.v1.Widget";
  assert.equal((await get(path)).code, 404);
  assert.equal(parse(await get("/openapi/v2")).definitions[name], undefined);
  // `presence` changes in place.
  presence.isEstablished = true;
  assert.equal((await get(path)).code, 200);
  assert.notEqual(parse(await get("/openapi/v2")).definitions[name], undefined);
});

test("publishes kinds of groups in another domain under that domain", async () => {
  const definitions = builtInKinds("example.org");
  const get = server(() => definitions);
  const { components } = parse(await get("/openapi/v3/apis/coordination.example.org/v1"));
  const lease = components.schemas["io.k8s.api.coordination.v1.Lease"];
  assert.deepEqual(lease["x-kubernetes-group-version-kind"], [
    { group: "coordination.example.org", kind: "Lease", version: "v1" },
  ]);
});

test("builds documents once, and again only if their kinds change", async () => {
  let definitions: readonly ResourceDefinition[] = builtIn;
  const get = server(() => definitions);
  const before = await get("/openapi/v3/apis/apps/v1");
  assert.equal((await get("/openapi/v3/apis/apps/v1")).body, before.body);
  assert.equal((await get("/openapi/v3/apis/stable.example.com/v1")).code, 404);
  definitions = [...builtIn, custom];
  assert.equal((await get("/openapi/v3/apis/apps/v1")).body, before.body);
  assert.equal((await get("/openapi/v3/apis/stable.example.com/v1")).code, 200);
  definitions = builtIn.filter(({ group, kind }) => group !== "apps" || kind !== "DaemonSet");
  assert.notEqual((await get("/openapi/v3/apis/apps/v1")).body, before.body);
});
