import assert from "node:assert/strict";
import { generateKeyPairSync } from "node:crypto";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { after, before, describe, test } from "node:test";
import { makeCa } from "../../src/base/pki/make-certificate.ts";
import { startBinnacle } from "../support/binnacle.ts";
import { clientFor } from "../support/client.ts";
import { tokens } from "../support/oracle.ts";

const PRIVILEGED = {
  metadata: { name: "privileged" },
  spec: { containers: [{ name: "c", image: "i", securityContext: { privileged: true } }] },
};

describe("the flags that controller-runtime's envtest starts a kube-apiserver with", () => {
  let folder: string;
  before(async () => {
    folder = await mkdtemp(path.join(tmpdir(), "binnacle-envtest-"));
  });
  after(() => rm(folder, { recursive: true, force: true }));

  test("are accepted", async () => {
    const { publicKey, privateKey } = generateKeyPairSync("rsa", { modulusLength: 2048 });
    const files = {
      "client-cert-auth-ca.crt": makeCa("envtest", Date.now()).certificate,
      "sa-signer.crt": publicKey.export({ type: "spki", format: "pem" }),
      "sa-signer.key": privateKey.export({ type: "pkcs8", format: "pem" }),
    };
    for (const [name, text] of Object.entries(files)) await writeFile(path.join(folder, name), text);
    const server = await startBinnacle({
      flags: [
        "--allow-privileged=true",
        "--authorization-mode=RBAC",
        "--bind-address=127.0.0.1",
        `--client-ca-file=${folder}/client-cert-auth-ca.crt`,
        "--disable-admission-plugins=ServiceAccount",
        "--service-account-issuer=https://127.0.0.1:6443/",
        `--service-account-key-file=${folder}/sa-signer.crt`,
        `--service-account-signing-key-file=${folder}/sa-signer.key`,
        "--service-cluster-ip-range=10.0.0.0/24",
      ],
    });
    try {
      const client = clientFor(server.base, tokens.admin);
      assert.equal((await client.call("POST", "/api/v1/namespaces/default/pods", PRIVILEGED)).status, 201);
    } finally {
      await server.kill();
    }
  });

  test("rejects --allow-privileged=false", async () => {
    await assert.rejects(
      startBinnacle({ flags: ["--allow-privileged=false"] }),
      /expected true; to deny privileged containers/,
    );
  });
});
