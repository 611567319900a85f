import assert from "node:assert/strict";
import { test } from "node:test";
import { isTruthy, parseRequestInfo } from "./request-info.ts";

function read(method: string, url: string) {
  const [path = "", query = ""] = url.split("?");
  return parseRequestInfo(method, path, new URLSearchParams(query));
}

/** Method, URL, then verb, group, version, namespace, resource, name, subresource. */
const RESOURCE_CASES: readonly (readonly string[])[] = [
  ["GET", "/api/v1/pods", "list", "", "v1", "", "pods", "", ""],
  ["GET", "/api/v1/namespaces/a/pods?watch", "watch", "", "v1", "a", "pods", "", ""],
  ["GET", "/api/v1/namespaces/a/pods?watch=false", "list", "", "v1", "a", "pods", "", ""],
  ["GET", "/api/v1/namespaces/a/pods/p", "get", "", "v1", "a", "pods", "p", ""],
  ["PUT", "/api/v1/namespaces/a/pods/p/status", "update", "", "v1", "a", "pods", "p", "status"],
  ["POST", "/apis/apps/v1/namespaces/a/deployments", "create", "apps", "v1", "a", "deployments", "", ""],
  ["PATCH", "/apis/apps/v1/namespaces/a/deployments/d/scale", "patch", "apps", "v1", "a", "deployments", "d", "scale"],
  ["DELETE", "/api/v1/namespaces/a/pods", "deletecollection", "", "v1", "a", "pods", "", ""],
  ["GET", "/api/v1/namespaces", "list", "", "v1", "", "namespaces", "", ""],
  ["GET", "/api/v1/namespaces/a", "get", "", "v1", "a", "namespaces", "a", ""],
  ["PUT", "/api/v1/namespaces/a/finalize", "update", "", "v1", "a", "namespaces", "a", "finalize"],
  ["GET", "/api/v1/watch/namespaces/a/pods/p", "watch", "", "v1", "a", "pods", "p", ""],
  ["GET", "/api/v1/namespaces/a/pods/", "list", "", "v1", "a", "pods", "", ""],
  ["GET", "//api/v1/pods", "list", "", "v1", "", "pods", "", ""],
  ["GET", "/api/v1/pods//", "list", "", "v1", "", "pods", "", ""],
  ["POST", "/api/v1/watch/pods", "watch", "", "v1", "", "pods", "", ""],
  ["PUT", "/api/v1/proxy/namespaces/a/pods/p/q", "proxy", "", "v1", "a", "pods", "p", ""],
];

for (const [method = "", url = "", ...expected] of RESOURCE_CASES) {
  test(`${method} ${url} is a resource request`, () => {
    const info = read(method, url);
    const { verb, group, version, namespace, resource, name, subresource } = info;
    assert.equal(info.isResource, true);
    assert.deepEqual([verb, group, version, namespace, resource, name, subresource], expected);
  });
}

for (const path of ["/", "/api", "/api/v1", "/apis", "/apis/apps", "/apis/apps/v1", "/healthz", "/nope/at/all"]) {
  test(`${path} is a non-resource request`, () => assert.equal(read("GET", path).isResource, false));
}

for (const path of ["/api/v1/watch", "/api/v1/proxy/", "/apis/apps/v1/watch"]) {
  test(`${path} is incomplete`, () => assert.equal(read("GET", path).isIncomplete, true));
}

test("keeps an empty segment in the middle, so that it matches no resource", () => {
  assert.equal(read("GET", "/api/v1//namespaces/a/pods").resource, "");
});

test("isTruthy is false only for a missing parameter, 0 and false", () => {
  assert.deepEqual([null, "0", "False", "", "1", "yes"].map(isTruthy), [false, false, false, true, true, true]);
});
