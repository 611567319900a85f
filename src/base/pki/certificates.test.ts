import assert from "node:assert/strict";
import { createPrivateKey, X509Certificate } from "node:crypto";
import { mkdtemp, readFile, rm, stat, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, describe, it } from "node:test";
import { parseJson } from "../../data/encoding/json/json.ts";
import { decodeYaml } from "../../data/encoding/yaml/yaml.ts";
import { printKubeconfig } from "../../data/kubeconfig/kubeconfig.ts";
import { type Certificates, ensureCertificates } from "./certificates.ts";

const OPTIONS = { bindAddress: "192.0.2.7", serviceRange: "10.96.0.0/16" };

describe("ensureCertificates", () => {
  let directory: string;
  let made: Certificates;
  before(async () => {
    directory = await mkdtemp(join(tmpdir(), "binnacle-certificates-"));
    made = await ensureCertificates(directory, OPTIONS);
  });
  after(() => rm(directory, { recursive: true }));

  it("covers all names and addresses of the server", () => {
    const certificate = new X509Certificate(made.serving.certificate);
    for (const name of ["localhost", "kubernetes", "kubernetes.default.svc", "kubernetes.default.svc.cluster.local"]) {
      assert.equal(certificate.checkHost(name), name);
    }
    for (const address of ["127.0.0.1", "::1", "192.0.2.7", "10.96.0.1"])
      assert.equal(certificate.checkIP(address), address);
    assert.equal(certificate.checkHost("example.com"), undefined);
  });

  it("contains the administrator's group", () => {
    const { subject } = new X509Certificate(made.admin.certificate).toLegacyObject();
    assert.equal(subject.CN, "kubernetes-admin");
    assert.equal(subject.O, "system:masters");
  });

  it("makes keys readable only by their owner", async () => {
    for (const name of ["ca", "apiserver", "admin"]) {
      assert.equal((await stat(join(directory, `${name}.key`))).mode & 0o777, 0o600);
    }
  });

  it("reuses existing certificates", async () => assert.deepEqual(await ensureCertificates(directory, OPTIONS), made));

  it("renews a serving certificate for another address, or when it is about to expire", async () => {
    const moved = await ensureCertificates(directory, { ...OPTIONS, bindAddress: "192.0.2.8" });
    assert.deepEqual(moved.authority, made.authority);
    assert.deepEqual(moved.admin, made.admin);
    assert.notDeepEqual(moved.serving, made.serving);
    const later = await ensureCertificates(directory, { ...OPTIONS, now: Date.now() + 350 * 86_400_000 });
    assert.notDeepEqual(later.serving, moved.serving);
  });

  it("renews a certificate whose key does not match", async () => {
    await writeFile(join(directory, "admin.key"), made.authority.key);
    const { admin } = await ensureCertificates(directory, OPTIONS);
    assert.ok(new X509Certificate(admin.certificate).checkPrivateKey(createPrivateKey(admin.key)));
    assert.equal(await readFile(join(directory, "admin.key"), "utf8"), admin.key);
  });
});

describe("printKubeconfig", () => {
  it("prints YAML that contains the CA, the certificate and the key", () => {
    const identity = { certificate: "CERT", key: "KEY" };
    const text = printKubeconfig({ server: "https://127.0.0.1:6443", authority: "CA", user: { identity } });
    const value = decodeYaml(Buffer.from(text)).value;
    assert.deepEqual(parseJson(Buffer.from(JSON.stringify(value))), {
      apiVersion: "v1",
      kind: "Config",
      clusters: [
        { name: "binnacle", cluster: { server: "https://127.0.0.1:6443", "certificate-authority-data": "Q0E=" } },
      ],
      users: [{ name: "binnacle", user: { "client-certificate-data": "Q0VSVA==", "client-key-data": "S0VZ" } }],
      contexts: [{ name: "binnacle", context: { cluster: "binnacle", user: "binnacle" } }],
      "current-context": "binnacle",
    });
    assert.match(printKubeconfig({ server: "http://x", user: { token: "secret" } }), /token: secret/);
  });
});
