import assert from "node:assert/strict";
import { test } from "node:test";
import type { JsonObject } from "../../../base/api/object.ts";
import { kindUnderTest } from "../kind.suite.ts";
import { networkingKinds } from "./group.ts";

type Row = [kind: string, body: JsonObject, previous: JsonObject | undefined, expected: readonly string[]];

const service = { service: { name: "s", port: { number: 80 } } };
const path = (change: JsonObject): JsonObject => {
  const paths = [{ path: "/", pathType: "Prefix", backend: service, ...change }];
  return { spec: { rules: [{ host: "a.example.com", http: { paths } }] } };
};
const at = "spec.rules[0].http.paths[0]";
const address = { metadata: { name: "10.0.0.1" }, spec: { parentRef: { resource: "services", name: "s" } } };
const policy = (rule: JsonObject): JsonObject => ({ spec: { podSelector: {}, ingress: [rule] } });

const rows: Row[] = [
  ["Ingress", path({}), undefined, []],
  ["Ingress", {}, undefined, ["spec: Invalid value: null: either `defaultBackend` or `rules` must be specified"]],
  ["Ingress", path({ pathType: null }), undefined, [`${at}.pathType: Required value: pathType must be specified`]],
  [
    "Ingress",
    path({ path: "a//b/..", backend: {} }),
    undefined,
    [
      `${at}.path: Invalid value: "a//b/..": must be an absolute path`,
      `${at}.path: Invalid value: "a//b/..": must not contain '//'`,
      `${at}.path: Invalid value: "a//b/..": cannot end with '/..'`,
      `${at}.backend: Invalid value: "": resource or service backend is required`,
    ],
  ],
  [
    "Ingress",
    { spec: { defaultBackend: { ...service, resource: { kind: "K", name: "n" } } } },
    undefined,
    ['spec.defaultBackend: Invalid value: "": cannot set both resource and service backends'],
  ],
  [
    "IngressClass",
    { spec: { controller: "none", parameters: { kind: "K", scope: "Namespace" } } },
    undefined,
    [
      'spec.controller: Invalid value: "none": must be a domain-prefixed path (such as "acme.io/foo")',
      "spec.parameters.namespace: Required value: `parameters.scope` is set to 'Namespace'",
      "spec.parameters.name: Required value",
    ],
  ],
  ["NetworkPolicy", policy({ ports: [{ port: 80, endPort: 90 }], from: [{ podSelector: {} }] }), undefined, []],
  [
    "NetworkPolicy",
    policy({ ports: [{ port: "http", endPort: 90 }], from: [{}, { ipBlock: {}, podSelector: {} }] }),
    undefined,
    [
      "spec.ingress[0].ports[0].endPort: Invalid value: 90: may not be specified when `port` is non-numeric",
      "spec.ingress[0].from[0]: Required value: must specify a peer",
      "spec.ingress[0].from[1]: Forbidden: may not specify both ipBlock and another peer",
      "spec.ingress[0].from[1].ipBlock.cidr: Required value",
    ],
  ],
  [
    "NetworkPolicy",
    policy({ from: [{ ipBlock: { cidr: "10.0.0.0/16", except: ["10.1.0.0/24"] } }] }),
    undefined,
    ['spec.ingress[0].from[0].ipBlock.except[0]: Invalid value: "10.1.0.0/24": must be a strict subset of `cidr`'],
  ],
  ["IPAddress", address, undefined, []],
  [
    "IPAddress",
    { metadata: { name: "FD00::1" } },
    undefined,
    [
      'metadata.name: Invalid value: "FD00::1": must be in canonical form ("fd00::1")',
      "spec.parentRef: Required value",
    ],
  ],
  [
    "IPAddress",
    { ...address, spec: { parentRef: { resource: "services" } } },
    address,
    ["spec.parentRef.name: Required value", "spec.parentRef: Invalid value: null: field is immutable"],
  ],
  ["ServiceCIDR", { spec: {} }, undefined, ["spec.cidrs: Required value: at least one CIDR required"]],
  ["ServiceCIDR", { spec: { cidrs: ["10.0.0.0/24", "fd00::/64"] } }, { spec: { cidrs: ["10.0.0.0/24"] } }, []],
  [
    "ServiceCIDR",
    { spec: { cidrs: ["10.0.1.0/24"] } },
    { spec: { cidrs: ["10.0.0.0/24"] } },
    ['spec.cidrs[0]: Invalid value: "10.0.1.0/24": field is immutable'],
  ],
];

test("rejects invalid networking objects", () => {
  for (const [kind, body, previous, expected] of rows) {
    assert.deepEqual(kindUnderTest(networkingKinds, kind).problems(body, { previous }), expected, kind);
  }
});

test("a NetworkPolicy only has the type Egress if it has egress rules", () => {
  const policies = kindUnderTest(networkingKinds, "NetworkPolicy");
  const typesOf = (spec: JsonObject) => (policies.complete({ spec }).spec as JsonObject).policyTypes;
  assert.deepEqual(typesOf({}), ["Ingress"]);
  assert.deepEqual(typesOf({ egress: [{}] }), ["Ingress", "Egress"]);
});
