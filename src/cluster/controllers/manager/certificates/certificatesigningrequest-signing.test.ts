import assert from "node:assert/strict";
import { X509Certificate } from "node:crypto";
import { afterEach, beforeEach, suite, test } from "node:test";
import { person } from "../../../../base/pki/certificates.suite.ts";
import { makeCa } from "../../../../base/pki/make-certificate.ts";
import { until } from "../../shared/controllers.suite.ts";
import { CertificateCluster, type TestRequest } from "./certificates.suite.ts";
import { requestSigning } from "./certificatesigningrequest-signing.ts";

const DAY_MS = 86_400_000;
const START_MS = Date.UTC(2026, 0, 1);
const authority = makeCa("test-ca", START_MS);
const ca = new X509Certificate(authority.certificate);

suite("certificatesigningrequest-signing-controller", () => {
  let cluster: CertificateCluster;

  beforeEach(() => {
    cluster = new CertificateCluster();
    const certificates = { authority, maxLifetimeMs: 365 * DAY_MS };
    cluster.start(requestSigning(cluster, { rootCa: "", signToken: () => "", certificates }));
  });
  afterEach(() => cluster.end());

  const sign = async (request: TestRequest, name = "one"): Promise<X509Certificate> => {
    await cluster.ask(name, request);
    await cluster.decide(name, "Approved");
    await until(async () => (await cluster.request(name))?.status?.certificate !== undefined);
    const { certificate = "" } = (await cluster.request(name))?.status ?? {};
    return new X509Certificate(Buffer.from(certificate, "base64"));
  };
  const minutes = (date: string) => (Date.parse(date) - START_MS) / 60_000;

  test("signs an approved request with the CA", async () => {
    const certificate = await sign({});
    assert.ok(certificate.verify(ca.publicKey));
    assert.ok(certificate.checkIssued(ca));
    assert.equal(certificate.subject, "O=system:nodes\nCN=system:node:a");
    assert.deepEqual(certificate.keyUsage, ["1.3.6.1.5.5.7.3.2"]);
    assert.equal(certificate.ca, false);
    assert.deepEqual([minutes(certificate.validFrom), minutes(certificate.validTo)], [-5, 365 * 24 * 60 - 5]);
  });

  test("limits the lifetime to that of the request, and to at least 10 minutes", async () => {
    const ends: [number, number][] = [
      [600, 10],
      [7 * 3600, 7 * 60],
      [8 * 3600, 8 * 60 - 5],
      [400 * 86_400, 365 * 24 * 60 - 5],
    ];
    for (const [expirationSeconds, end] of ends) {
      const certificate = await sign({ expirationSeconds }, `s${expirationSeconds}`);
      assert.equal(minutes(certificate.validTo), end);
    }
  });

  test("signs no certificate that outlives the CA", async () => {
    await cluster.clock.advance(3600 * DAY_MS);
    assert.equal((await sign({})).validTo, ca.validTo);
  });

  test("copies alternative names and the attributes of the subject, in the order of Go", async () => {
    const subject: [string, string][] = [
      ["2.5.4.3", "first"],
      ["2.5.4.10", "b"],
      ["2.5.4.10", "a"],
      ["2.5.4.3", "system:node:x*"],
      ["2.5.4.6", "DE"],
      ["1.2.3.4", "dropped"],
    ];
    const ip = Buffer.from([10, 0, 0, 1]);
    const certificate = await sign({
      subject,
      names: [
        [7, ip],
        [1, "me@example.com"],
        [2, "a.example"],
        [6, "spiffe://a/b"],
      ],
      signerName: "kubernetes.io/kube-apiserver-client",
    });
    assert.equal(certificate.subject, "C=DE\nO=a + O=b\nCN=system:node:x*");
    const names = "DNS:a.example, email:me@example.com, IP Address:10.0.0.1, URI:spiffe://a/b";
    assert.equal(certificate.subjectAltName, names);
  });

  const FAILURES: readonly [string, TestRequest, string][] = [
    [
      "a client with another usage",
      { signerName: "kubernetes.io/kube-apiserver-client", usages: ["server auth", "client auth"] },
      "invalid usage for client certificate: server auth",
    ],
    [
      "a client without its usage",
      { signerName: "kubernetes.io/kube-apiserver-client", usages: ["digital signature"] },
      "missing required usage for client certificate: client auth",
    ],
    [
      "a kubelet of another group",
      { subject: person("system:node:a", "others") },
      "subject organization is not system:nodes",
    ],
    [
      "a kubelet with another name",
      { subject: person("a", "system:nodes") },
      "subject common name does not begin with system:node:",
    ],
    [
      "a kubelet that serves without addresses",
      { signerName: "kubernetes.io/kubelet-serving", usages: ["digital signature", "server auth"] },
      "DNS or IP subjectAltName is required",
    ],
    [
      "a kubelet that serves for clients",
      { signerName: "kubernetes.io/kubelet-serving", names: [[2, "a"]], usages: ["client auth"] },
      "usages did not match [digital signature key encipherment server auth]",
    ],
    ["a kubelet with a URI", { names: [[6, "urn:x"]] }, "URI subjectAltNames are not allowed"],
  ];

  for (const [what, request, message] of FAILURES) {
    test(`adds the condition Failed for ${what}`, async () => {
      await cluster.ask("one", request);
      await cluster.decide("one", "Approved");
      await until(async () => (await cluster.request("one"))?.status?.conditions?.length === 2);
      const { conditions = [], certificate } = (await cluster.request("one"))?.status ?? {};
      assert.equal(certificate, undefined);
      assert.partialDeepStrictEqual(conditions[1], {
        type: "Failed",
        status: "True",
        reason: "SignerValidationFailure",
        message,
      });
    });
  }

  test("ignores requests that are not approved, or for other signers", async () => {
    await cluster.ask("pending");
    await cluster.ask("foreign", { signerName: "example.com/signer" });
    await cluster.decide("foreign", "Approved");
    await cluster.ask("denied");
    await cluster.decide("denied", "Denied");
    await sign({}, "last");
    for (const name of ["pending", "foreign", "denied"]) {
      assert.equal((await cluster.request(name))?.status?.certificate, undefined);
    }
  });
});

test("the signing controller idles without a CA", async () => {
  const cluster = new CertificateCluster();
  cluster.start(requestSigning(cluster, { rootCa: "", signToken: () => "" }));
  await cluster.ask("one");
  await cluster.decide("one", "Approved");
  await cluster.clock.advance(DAY_MS);
  assert.equal((await cluster.request("one"))?.status?.certificate, undefined);
  await cluster.end();
});
