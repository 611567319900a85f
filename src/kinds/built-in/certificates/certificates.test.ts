import assert from "node:assert/strict";
import { test } from "node:test";
import { defaultFeatureGates } from "../../../base/api/feature-gates.ts";
import type { JsonObject, KubeObject } from "../../../base/api/object.ts";
import { makeCertificate, makeKeys, makeRequest, printPem } from "../../../base/pki/certificates.suite.ts";
import { Draft } from "../../../resources/model/draft.ts";
import { kindUnderTest } from "../kind.suite.ts";
import { certificatesKinds } from "./group.ts";
import { signingRequestHooks } from "./signing-request.ts";

const NOW = Date.parse("2030-01-01T00:00:00Z");
const keys = makeKeys();
const base64 = (text: string | Buffer): string => Buffer.from(text).toString("base64");
const request = base64(printPem("CERTIFICATE REQUEST", makeRequest(keys)));
const authority = makeCertificate({ keys, isAuthority: true }).pem;
const leaf = makeCertificate({ keys }).pem;

const signing = kindUnderTest(certificatesKinds, "CertificateSigningRequest");
const bundle = kindUnderTest(certificatesKinds, "ClusterTrustBundle");
const podRequest = kindUnderTest(certificatesKinds, "PodCertificateRequest");
const spec = { request, signerName: "example.com/s", usages: ["client auth"] };

test("records the requesting user, regardless of the body", () => {
  const next = signing.complete({ spec: { ...spec, username: "me", groups: ["g"] } });
  const user = { name: "u", uid: "1", groups: ["a"], extra: { k: ["v"] } };
  const draft = new Draft(next);
  signingRequestHooks.prepare?.(next, undefined, {
    subresource: "",
    apiVersion: next.apiVersion,
    user,
    now: NOW,
    features: defaultFeatureGates,
    draft,
  });
  const asked = next.spec as JsonObject;
  assert.deepEqual([asked.username, asked.uid, asked.groups, asked.extra], ["u", "1", ["a"], { k: ["v"] }]);
});

test("rejects an invalid signing request", () => {
  const rows: [change: JsonObject, expected: readonly string[]][] = [
    [{}, []],
    [{ request: base64("x") }, ['spec.request: Invalid value: "eA==": PEM block type must be CERTIFICATE REQUEST']],
    [{ usages: ["any", "any"] }, ['spec.usages[1]: Duplicate value: "any"']],
    [
      { signerName: "kubernetes.io/legacy-unknown", expirationSeconds: 1 },
      [
        'spec.signerName: Invalid value: "kubernetes.io/legacy-unknown": the legacy signerName is not allowed via this API version',
        "spec.expirationSeconds: Invalid value: 1: may not specify a duration less than 600 seconds (10 minutes)",
      ],
    ],
  ];
  for (const [change, expected] of rows) assert.deepEqual(signing.problems({ spec: { ...spec, ...change } }), expected);
});

test("conditions are set by their subresources and stay", () => {
  const approved = { type: "Approved", status: "True" };
  const denied = { type: "Denied", status: "True" };
  const stored = signing.created({ spec });
  const write = (subresource: string, previous: JsonObject, status: JsonObject): string[] => {
    const before: KubeObject = { ...stored, status: previous };
    const next = structuredClone({ ...stored, status });
    const context = {
      subresource,
      apiVersion: stored.apiVersion,
      now: NOW,
      features: defaultFeatureGates,
      draft: new Draft(next),
    };
    signingRequestHooks.prepare?.(next, before, context);
    return (signingRequestHooks.validate?.(next, before, context) ?? []).map(
      ({ field, message }) => `${field}: ${message}`,
    );
  };
  assert.deepEqual(write("approval", {}, { conditions: [approved] }), []);
  assert.deepEqual(write("status", {}, { conditions: [approved] }), [
    'status.conditions: Forbidden: updates may not add a condition of type "Approved"',
  ]);
  assert.deepEqual(write("approval", { conditions: [approved] }, {}), [
    'status.conditions: Forbidden: updates may not remove a condition of type "Approved"',
  ]);
  assert.equal(write("approval", {}, { conditions: [approved, denied] }).length, 1);
  const certificate = base64(leaf);
  assert.deepEqual(write("status", { conditions: [approved] }, { conditions: [approved], certificate }), []);
  assert.deepEqual(write("status", { certificate }, { certificate: base64(authority) }), [
    "status.certificate: Forbidden: updates may not modify existing certificate content",
  ]);
});

test("accepts only distinct CA certificates in a trust bundle", () => {
  const omitted = (text: string) => [`spec.trustBundle: Invalid value: "<value omitted>": ${text}`];
  const rows: [text: string, expected: readonly string[]][] = [
    [authority, []],
    ["", omitted("at least one trust anchor must be provided")],
    [leaf, omitted("entry 0 does not have the CA bit set")],
    [authority + authority, omitted("duplicate trust anchor (indices [0 1])")],
    [authority + printPem("KEY", Buffer.from("x")), omitted("entry 1 has bad block type: KEY")],
  ];
  for (const [trustBundle, expected] of rows) assert.deepEqual(bundle.problems({ spec: { trustBundle } }), expected);
  assert.deepEqual(bundle.problems({ spec: { trustBundle: authority, signerName: "example.com/s" } }), [
    'metadata.name: Invalid value: "one": ClusterTrustBundle for signerName example.com/s must be named with prefix example.com:s:',
  ]);
});

const uid = "u";
const podSpec = {
  ...{ signerName: "example.com/s", podName: "p", podUID: uid, serviceAccountName: "s", serviceAccountUID: uid },
  ...{ nodeName: "n", nodeUID: uid, stubPKCS10Request: base64(makeRequest(keys)) },
};

test("rejects an invalid pod certificate request", () => {
  assert.deepEqual(podRequest.problems({ spec: podSpec }), []);
  assert.deepEqual(podRequest.problems({ spec: { ...podSpec, podUID: "", maxExpirationSeconds: 1 } }), [
    'spec.podUID: Invalid value: "": must not be empty',
    "spec.maxExpirationSeconds: Invalid value: 1: must be in the range [3600, 7862400]",
  ]);
  assert.deepEqual(podRequest.problems({ spec: { ...podSpec, stubPKCS10Request: "AAAA" } }), [
    "spec.stubPKCS10Request: Invalid value: must be a valid PKCS#10 CSR",
  ]);
});

test("rejects an issued certificate that does not match the request", () => {
  const condition = {
    type: "Issued",
    status: "True",
    reason: "R",
    message: "",
    lastTransitionTime: "2030-01-01T00:00:00Z",
  };
  const issue = (hours: number, to = NOW + hours * 3_600_000): JsonObject => ({
    conditions: [condition],
    certificateChain: makeCertificate({ keys, from: NOW, to }).pem,
    notBefore: "2030-01-01T00:00:00Z",
    notAfter: `${new Date(to).toISOString().slice(0, 19)}Z`,
    beginRefreshAt: "2030-01-01T00:30:00Z",
  });
  const report = (status: JsonObject) =>
    podRequest.problems({ status }, { previous: { spec: podSpec }, subresource: "status" });
  assert.deepEqual(report(issue(2)), []);
  assert.deepEqual(report(issue(25)), [
    "status.certificateChain: Invalid value: 90000000000000: leaf certificate lifetime must be <= spec.maxExpirationSeconds (86400)",
  ]);
  assert.deepEqual(report({ ...issue(2), beginRefreshAt: undefined }), [
    "status.beginRefreshAt: Required value: must be present and in the range [notbefore+10min, notafter-10min]",
  ]);
  assert.deepEqual(report({ conditions: [{ ...condition, type: "Denied" }], certificateChain: "x" }), [
    "status: Invalid value: non-condition status fields must be empty when denying or failing the PodCertificateRequest",
  ]);
});
