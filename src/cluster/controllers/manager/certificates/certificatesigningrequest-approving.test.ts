import assert from "node:assert/strict";
import { afterEach, beforeEach, suite, test } from "node:test";
import type { Attributes } from "../../../../base/api/attributes.ts";
import { person } from "../../../../base/pki/certificates.suite.ts";
import { until } from "../../shared/controllers.suite.ts";
import { CertificateCluster, type TestRequest } from "./certificates.suite.ts";
import { requestApproving } from "./certificatesigningrequest-approving.ts";

suite("certificatesigningrequest-approving-controller", () => {
  let cluster: CertificateCluster;
  let allowed: string[];
  let asked: Attributes[];

  beforeEach(() => {
    allowed = ["selfnodeclient", "nodeclient"];
    asked = [];
    cluster = new CertificateCluster({
      authorize: (attributes) => {
        asked.push(attributes);
        return { decision: allowed.includes(attributes.subresource) ? "allow" : "noOpinion" };
      },
    });
    cluster.start(requestApproving(cluster));
  });
  afterEach(() => cluster.end());

  const conditions = async (name: string) =>
    (await cluster.request(name))?.status?.conditions?.map(({ type, status, reason, message }) => {
      return [type, status, reason, message];
    });
  const approved = (what: string) => [
    ["Approved", "True", "AutoApproved", `Auto approving ${what} client certificate after SubjectAccessReview.`],
  ];

  test("approves a kubelet's request for its own certificate", async () => {
    await cluster.ask("own");
    await until(async () => (await conditions("own")) !== undefined);
    assert.deepEqual(await conditions("own"), approved("self kubelet"));
    assert.partialDeepStrictEqual(asked, [
      {
        user: { name: "system:node:a", groups: ["system:nodes"] },
        verb: "create",
        apiGroup: "certificates.k8s.io",
        apiVersion: "*",
        resource: "certificatesigningrequests",
        subresource: "selfnodeclient",
      },
    ]);
  });

  test("approves the first certificate of a kubelet", async () => {
    await cluster.ask("first", { username: "system:bootstrap:abcdef" });
    await until(async () => (await conditions("first")) !== undefined);
    assert.deepEqual(await conditions("first"), approved("kubelet"));
  });

  test("asks again later if nothing allows it yet", async () => {
    allowed = [];
    await cluster.ask("own");
    await until(() => asked.length === 2);
    assert.deepEqual(
      asked.map(({ subresource }) => subresource),
      ["selfnodeclient", "nodeclient"],
    );
    assert.equal(await conditions("own"), undefined);
    allowed = ["nodeclient"];
    await cluster.clock.advance(200);
    await until(async () => (await conditions("own")) !== undefined);
    assert.deepEqual(await conditions("own"), approved("kubelet"));
  });

  const OTHERS: Readonly<Record<string, TestRequest>> = {
    "another signer": { signerName: "kubernetes.io/kube-apiserver-client" },
    "another organization": { subject: person("system:node:a", "system:masters") },
    "two organizations": { subject: person("system:node:a", "system:nodes", "system:masters") },
    "another common name": { subject: person("admin", "system:nodes") },
    "a DNS name": { names: [[2, "a.example"]] },
    "an IP address": { names: [[7, Buffer.from([10, 0, 0, 1])]] },
    "another usage": { usages: ["client auth", "digital signature", "server auth"] },
    "too few usages": { usages: ["client auth"] },
  };

  for (const [what, request] of Object.entries(OTHERS)) {
    test(`does not approve a request with ${what}`, async () => {
      await cluster.ask("other", request);
      await cluster.ask("own");
      await until(async () => (await conditions("own")) !== undefined);
      assert.equal(await conditions("other"), undefined);
      assert.equal(asked.length, 1);
    });
  }

  test("leaves denied requests alone", async () => {
    allowed = [];
    await cluster.ask("denied");
    await until(() => asked.length === 2);
    await cluster.decide("denied", "Denied");
    allowed = ["nodeclient"];
    await cluster.clock.advance(10_000);
    assert.deepEqual(
      (await conditions("denied"))?.map(([type]) => type),
      ["Denied"],
    );
  });
});
