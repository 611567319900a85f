import assert from "node:assert/strict";
import { suite, test } from "node:test";
import type { Attributes, Decision } from "../../../base/api/attributes.ts";
import type { KubeObject } from "../../../base/api/object.ts";
import { element, integer, objectIdentifier, sequence, setOf, utf8String } from "../../../base/pki/der.ts";
import { World } from "../admission.suite.ts";
import {
  certificateApproval,
  certificateSigning,
  certificateSubjectRestriction,
  clusterTrustBundleAttest,
} from "./certificates.ts";

const GROUP = "certificates.k8s.io";

function csr(spec: object, status: object = {}): KubeObject {
  return {
    kind: "CertificateSigningRequest",
    apiVersion: `${GROUP}/v1`,
    metadata: { name: "r" },
    spec: { ...spec },
    status: { ...status },
  };
}

/** Allows the listed names, and records each check. */
function authorizer(...allowed: string[]) {
  const asked: string[] = [];
  const authorize = async ({ verb, apiGroup, resource, name }: Attributes): Promise<Decision> => {
    asked.push(`${verb} ${resource}.${apiGroup} ${name}`);
    return { decision: allowed.includes(name) ? "allow" : "noOpinion" };
  };
  return { asked, authorize };
}

suite("signers", () => {
  const plural = "certificatesigningrequests";
  const previous = csr({ signerName: "example.com/one" });

  test("approving requires the right to the stored signer, or to all signers of its domain", async () => {
    const world = new World();
    const write = {
      group: GROUP,
      plural,
      subresource: "approval",
      object: csr({ signerName: "other.org/x" }),
      previous,
    };
    const denying = authorizer();
    const { refusal } = await world.judge(certificateApproval(denying), write);
    const text = 'user not permitted to approve requests with signerName "example.com/one"';
    assert.equal(refusal, `certificatesigningrequests.certificates.k8s.io "r" is forbidden: ${text}`);
    assert.deepEqual(denying.asked, [
      "approve signers.certificates.k8s.io example.com/one",
      "approve signers.certificates.k8s.io example.com/*",
    ]);
    for (const name of ["example.com/one", "example.com/*"]) {
      const allowed = await world.judge(certificateApproval(authorizer(name)), write);
      assert.equal(allowed.refusal, undefined);
    }
    const plain = { ...write, subresource: "" };
    assert.equal((await world.judge(certificateApproval(denying), plain)).refusal, undefined);
  });

  test("signing requires the right if the outcome changes", async () => {
    const world = new World();
    const judge = async (status: object) => {
      const write = { group: GROUP, plural, subresource: "status", object: csr({}, status), previous };
      return (await world.judge(certificateSigning(authorizer()), write)).refusal;
    };
    assert.equal(await judge({}), undefined);
    const text = 'user not permitted to sign requests with signerName "example.com/one"';
    assert.match((await judge({ certificate: "x" })) ?? "", new RegExp(`${text}$`));
    assert.match((await judge({ conditions: [{ type: "Failed" }] })) ?? "", new RegExp(`${text}$`));
  });

  test("attesting requires the right unless only ownership changes", async () => {
    const world = new World();
    const bundle = (spec: object, metadata: object = {}) => ({
      kind: "ClusterTrustBundle",
      apiVersion: `${GROUP}/v1`,
      metadata: { name: "b", ...metadata },
      spec: { ...spec },
    });
    const signed = { signerName: "example.com/one", trustBundle: "x" };
    const judge = async (object: KubeObject, before?: KubeObject) => {
      const write = { group: GROUP, plural: "clustertrustbundles", object, previous: before };
      return (await world.judge(clusterTrustBundleAttest(authorizer()), write)).refusal;
    };
    const text = 'user not permitted to attest for signerName "example.com/one"';
    assert.equal(await judge(bundle(signed)), `clustertrustbundles.certificates.k8s.io "b" is forbidden: ${text}`);
    assert.equal(await judge(bundle({ trustBundle: "x" })), undefined);
    assert.equal(await judge(bundle(signed, { finalizers: ["a/b"] }), bundle(signed)), undefined);
    assert.match((await judge(bundle({ ...signed, trustBundle: "y" }), bundle(signed))) ?? "", /attest/);
    assert.match((await judge(bundle(signed, { labels: { a: "b" } }), bundle(signed))) ?? "", /attest/);
  });
});

suite("CertificateSubjectRestriction", () => {
  const name = (type: string, value: Buffer) => setOf(sequence(objectIdentifier(type), value));
  function request(...subject: Buffer[]): string {
    const info = sequence(integer(Buffer.from([0])), sequence(...subject), sequence(), element(0xa0));
    const body = sequence(info, sequence(), element(0x03)).toString("base64");
    const pem = `-----BEGIN CERTIFICATE REQUEST-----\n${body}\n-----END CERTIFICATE REQUEST-----\n`;
    return Buffer.from(pem).toString("base64");
  }
  const signerName = "kubernetes.io/kube-apiserver-client";
  const masters = name("2.5.4.10", utf8String("system:masters"));
  const wide = name("2.5.4.10", element(0x1e, Buffer.from("system:masters", "utf16le").swap16()));
  const cases: readonly [title: string, spec: object, text: string | undefined][] = [
    ["users", { signerName, request: request(name("2.5.4.3", utf8String("system:masters"))) }, undefined],
    ["other groups", { signerName, request: request(name("2.5.4.10", utf8String("dev"))) }, undefined],
    ["other signers", { signerName: "example.com/x", request: request(masters) }, undefined],
    [
      "administrators",
      { signerName, request: request(name("2.5.4.10", utf8String("dev")), masters) },
      `use of ${signerName} signer with system:masters group is not allowed`,
    ],
    [
      "system:masters in another encoding",
      { signerName, request: request(wide) },
      `use of ${signerName} signer with system:masters group is not allowed`,
    ],
    ["nonsense", { signerName, request: "eA==" }, "failed to parse CSR: PEM block type must be CERTIFICATE REQUEST"],
  ];
  for (const [title, spec, text] of cases) {
    test(title, async () => {
      const write = { group: GROUP, plural: "certificatesigningrequests", object: csr(spec) };
      const { refusal } = await new World().judge(certificateSubjectRestriction, write);
      assert.equal(refusal, text && `certificatesigningrequests.certificates.k8s.io "r" is forbidden: ${text}`);
    });
  }
});
