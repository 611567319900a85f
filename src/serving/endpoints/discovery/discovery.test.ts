import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { test } from "node:test";
import { ApiError } from "../../../base/api/api-error.ts";
import type { Call } from "../../../base/api/call.ts";
import { isObject, type Json, type JsonObject } from "../../../base/api/object.ts";
import type { ApiReply } from "../../../base/api/reply.ts";
import { systemRandom } from "../../../base/util/random.ts";
import { builtInKinds, builtInPriorities } from "../../../kinds/built-in/all.ts";
import type { ResourceDefinition } from "../../../resources/model/definition.ts";
import { makeCall } from "../../pipeline/in-process.ts";
import { discovery, discoveryPaths } from "./discovery.ts";

const AGGREGATED = "application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList";
const OLD_AGGREGATED = AGGREGATED.replace("v=v2;", "v=v2beta1;");

function call(path: string, headers: Record<string, string> = {}, method = "GET"): Call {
  return makeCall(
    {
      method,
      path,
      headers: { host: "localhost:6443", ...headers },
      user: { name: "admin", groups: [] },
    },
    systemRandom,
  );
}

let definitions: readonly ResourceDefinition[] = builtInKinds();
const source = { definitions: () => definitions, priority: builtInPriorities() };
const answer = discovery(source);

function documentAt(path: string): JsonObject {
  const reply = answer(call(path));
  assert.ok(reply?.type === "document" && isObject(reply.value), path);
  return reply.value;
}

function rawAt(path: string, headers: Record<string, string>): Extract<ApiReply, { type: "raw" }> {
  const reply = answer(call(path, headers));
  assert.ok(reply?.type === "raw", path);
  return reply;
}

function recorded(scenario: string): JsonObject {
  const url = new URL(`../../../../test/golden/recorded/${scenario}.json`, import.meta.url);
  return JSON.parse(readFileSync(url, "utf8")).steps;
}

/** Whether `got` contains everything in `wanted`. Arrays may have additional items, but the order must match. */
function contains(got: Json | undefined, wanted: Json | undefined): boolean {
  if (Array.isArray(wanted)) {
    if (!Array.isArray(got)) return false;
    let index = 0;
    return wanted.every((item) => {
      while (index < got.length && !contains(got[index], item)) index++;
      return index++ < got.length;
    });
  }
  if (!isObject(wanted)) return got === wanted || wanted === "<hash>";
  return isObject(got) && Object.entries(wanted).every(([member, value]) => contains(got[member], value));
}

/** The steps of a scenario with a JSON response, and their paths. */
function steps(scenario: string): { id: string; path: string; accept: string | undefined; body: JsonObject }[] {
  const url = new URL(`../../../../test/golden/scenarios/${scenario}.json`, import.meta.url);
  const answers = recorded(scenario);
  const asked: { id: string; path: string; headers?: Record<string, string> }[] = JSON.parse(
    readFileSync(url, "utf8"),
  ).steps;
  return asked.flatMap(({ id, path, headers }) => {
    const step = answers[id];
    if (!isObject(step) || step.status !== 200 || !isObject(step.body) || step.body.bytesStartWith) return [];
    return [{ id, path, accept: headers?.accept, body: step.body }];
  });
}

for (const scenario of ["discovery-resources", "discovery-resources-1.36", "discovery-resources-1.35"]) {
  test(`${scenario}: resources of group versions match kube-apiserver`, () => {
    for (const { path, id, body } of steps(scenario)) {
      const document = structuredClone(documentAt(path));
      for (const resource of document.resources as JsonObject[]) {
        if (resource.storageVersionHash !== undefined) resource.storageVersionHash = "<hash>";
      }
      assert.deepEqual(document, body, id);
    }
  });
}

for (const scenario of ["discovery-groups", "discovery-groups-1.36", "discovery-groups-1.35"]) {
  test(`${scenario}: groups, versions and their order match kube-apiserver`, () => {
    for (const { path, id, accept, body } of steps(scenario)) {
      if (path.startsWith("/openapi")) continue;
      const document = accept === undefined ? documentAt(path) : JSON.parse(String(rawAt(path, { accept }).body));
      assert.ok(contains(document, body), id);
    }
  });
}

test("ignores a trailing slash and returns undefined for unknown paths", () => {
  assert.deepEqual(documentAt("/apis/apps/v1/"), documentAt("/apis/apps/v1"));
  assert.deepEqual(documentAt("/api/"), documentAt("/api"));
  for (const path of ["/", "/apis/missing.example.com", "/apis/apps/v2", "/api/v1/pods", "/version"]) {
    assert.equal(answer(call(path)), undefined, path);
  }
});

test("serves group lists for any method, other documents only for GET", () => {
  assert.throws(
    () => answer(call("/apis/apps/v1", {}, "POST")),
    (error) => error instanceof ApiError && error.code === 405,
  );
  assert.equal(answer(call("/apis", {}, "POST"))?.type, "document");
});

test("APIVersions contains the address that the client used", () => {
  assert.deepEqual(documentAt("/api"), {
    kind: "APIVersions",
    versions: ["v1"],
    serverAddressByClientCIDRs: [{ clientCIDR: "0.0.0.0/0", serverAddress: "localhost:6443" }],
  });
});

test("clients select the aggregated format by their Accept header", () => {
  const types = (accept: string) => answer(call("/apis", { accept }))?.type;
  assert.equal(types(AGGREGATED), "raw");
  assert.equal(types(`${AGGREGATED},${OLD_AGGREGATED},application/json`), "raw");
  assert.equal(types(`${OLD_AGGREGATED},application/json`), "document");
  assert.equal(types(`application/json,${AGGREGATED}`), "document");
  assert.equal(types(`application/json;q=0.5,${AGGREGATED};q=0.9`), "raw");
  assert.equal(types(OLD_AGGREGATED), "document");
  assert.equal(answer(call("/apis/apps", { accept: AGGREGATED }))?.type, "document");
});

test("an aggregated document can be revalidated by its ETag", () => {
  const first = rawAt("/apis", { accept: AGGREGATED });
  assert.equal(first.headers["content-type"], AGGREGATED);
  assert.equal(first.headers.vary, "Accept");
  assert.equal(first.headers["cache-control"], "public");
  const etag = first.headers.etag ?? "";
  assert.match(etag, /^"[0-9A-F]{128}"$/);
  assert.equal(rawAt("/apis", { accept: AGGREGATED, "if-none-match": '"nonsense"' }).code, 200);
  const second = rawAt("/apis", { accept: AGGREGATED, "if-none-match": etag });
  assert.equal(second.code, 304);
  assert.equal(second.body, "");
});

test("documents change with the definitions", () => {
  const before = rawAt("/apis", { accept: AGGREGATED }).headers.etag;
  const [first] = definitions.filter(({ kind }) => kind === "Lease");
  assert.ok(first);
  const built = definitions;
  definitions = [...definitions, { ...first, group: "widgets.example.com", kind: "Widget", plural: "widgets" }];
  try {
    const groups = documentAt("/apis").groups as JsonObject[];
    assert.equal(groups.at(-1)?.name, "widgets.example.com");
    assert.equal(documentAt("/apis/widgets.example.com/v1").groupVersion, "widgets.example.com/v1");
    assert.notEqual(rawAt("/apis", { accept: AGGREGATED }).headers.etag, before);
    assert.ok(discoveryPaths(source)().includes("/apis/widgets.example.com/v1"));
  } finally {
    definitions = built;
  }
  assert.equal(answer(call("/apis/widgets.example.com/v1")), undefined);
});
