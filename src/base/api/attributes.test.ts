import assert from "node:assert/strict";
import { test } from "node:test";
import { requestAttributes } from "./attributes.ts";
import { parseRequestInfo } from "./request-info.ts";

const user = { name: "u", groups: [] };

function attributes(method: string, target: string) {
  const [path = "", search = ""] = target.split("?");
  const query = new URLSearchParams(search);
  return requestAttributes(user, parseRequestInfo(method, path, query), query);
}

test("request attributes contain the user, verb and resource", () => {
  assert.deepEqual(attributes("PUT", "/apis/apps/v1/namespaces/n/deployments/d/status?dryRun=All"), {
    user,
    verb: "update",
    isResourceRequest: true,
    path: "/apis/apps/v1/namespaces/n/deployments/d/status",
    apiGroup: "apps",
    apiVersion: "v1",
    resource: "deployments",
    subresource: "status",
    namespace: "n",
    name: "d",
  });
  const { verb, isResourceRequest, path, resource } = attributes("GET", "/healthz/ping?fieldSelector=a=b");
  assert.deepEqual([verb, isResourceRequest, path, resource], ["get", false, "/healthz/ping", ""]);
});

test("takes the name of a list or watch from metadata.name in its field selector, like NewRequestInfo", () => {
  const pods = "/api/v1/namespaces/n/pods";
  const rows: [method: string, target: string, verb: string, name: string][] = [
    ["GET", `${pods}?fieldSelector=metadata.name%3Dx`, "list", "x"],
    ["GET", `${pods}?watch=1&fieldSelector=metadata.name%3D%3Dx,spec.nodeName%3Dy`, "watch", "x"],
    ["GET", `${pods}?fieldSelector=metadata.name!%3Dx`, "list", ""],
    ["GET", `${pods}?fieldSelector=metadata.name%3Da%2Fb`, "list", ""],
    ["GET", `${pods}?fieldSelector=metadata.name%3D..`, "list", ""],
    ["GET", `${pods}?fieldSelector=metadata.name%3Dx&limit=many`, "list", ""],
    ["GET", `${pods}?fieldSelector=metadata.name%3Dx&labelSelector=a%20in`, "list", ""],
    ["GET", `/api/v1/watch/namespaces/n/pods?fieldSelector=metadata.name%3Dx`, "watch", ""],
    ["DELETE", `${pods}?fieldSelector=metadata.name%3Dx`, "deletecollection", ""],
    ["GET", `${pods}/a?fieldSelector=metadata.name%3Dx`, "get", "a"],
  ];
  for (const [method, target, verb, name] of rows) {
    const got = attributes(method, target);
    assert.deepEqual([got.verb, got.name], [verb, name], target);
  }
});

test("contains selectors of list, watch and deletecollection that can be parsed", () => {
  const all = "/api/v1/pods";
  const selectors = "fieldSelector=spec.nodeName%3Da&labelSelector=b%3Dc";
  const fieldSelector = [{ field: "spec.nodeName", isEqual: true, value: "a" }];
  const labelSelector = [{ key: "b", operator: "=", values: ["c"] }];
  for (const [method, target] of [
    ["GET", `${all}?${selectors}`],
    ["GET", `${all}?watch=true&${selectors}`],
    ["DELETE", `/api/v1/namespaces/n/pods?${selectors}`],
  ] as const) {
    const got = attributes(method, target);
    assert.deepEqual([got.fieldSelector, got.labelSelector], [fieldSelector, labelSelector], target);
  }
  for (const target of [`/api/v1/watch/pods?${selectors}`, `/api/v1/namespaces/n/pods/p?${selectors}`]) {
    const got = attributes("GET", target);
    assert.deepEqual([got.fieldSelector, got.labelSelector], [undefined, undefined], target);
  }
  const broken = attributes("GET", `${all}?fieldSelector=nonsense&labelSelector=b%3Dc`);
  assert.deepEqual([broken.fieldSelector, broken.labelSelector], [undefined, labelSelector]);
});
