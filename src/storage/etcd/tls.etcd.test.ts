import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, describe, it } from "node:test";
import { type EtcdCluster, startEtcd } from "../../../test/support/etcd.ts";
import { needs } from "../../../test/support/tools.ts";
import { StoreError } from "../store.ts";
import { EtcdStore } from "./store.ts";

describe("etcd over TLS", needs("etcd", "openssl"), () => {
  const folder = mkdtempSync(join(tmpdir(), "binnacle-tls-"));
  const file = (name: string) => join(folder, name);
  let cluster: EtcdCluster;
  before(async () => {
    for (const authority of ["ca", "other-ca"]) selfSign(authority);
    issue("server", "ca");
    issue("client", "ca");
    issue("stranger", "other-ca");
    const tls = { ca: file("ca.crt"), certificate: file("server.crt"), key: file("server.key") };
    cluster = await startEtcd({ tls });
  });
  after(async () => {
    await cluster?.stop();
    rmSync(folder, { recursive: true });
  });

  const openssl = (...args: string[]) => execFileSync("openssl", args, { cwd: folder, stdio: "pipe" });
  const newKey = ["-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes"];
  const selfSign = (name: string) =>
    openssl(
      "req",
      "-x509",
      ...newKey,
      "-keyout",
      `${name}.key`,
      "-out",
      `${name}.crt`,
      "-subj",
      `/CN=${name}`,
      "-days",
      "2",
    );
  const issue = (name: string, authority: string) => {
    openssl("req", ...newKey, "-keyout", `${name}.key`, "-out", `${name}.csr`, "-subj", `/CN=${name}`);
    writeFileSync(file(`${name}.ext`), "subjectAltName=IP:127.0.0.1\nextendedKeyUsage=serverAuth,clientAuth\n");
    const signer = ["-CA", `${authority}.crt`, "-CAkey", `${authority}.key`, "-CAcreateserial"];
    openssl(
      "x509",
      "-req",
      "-in",
      `${name}.csr`,
      ...signer,
      "-out",
      `${name}.crt`,
      "-days",
      "2",
      "-extfile",
      `${name}.ext`,
    );
  };
  const read = (name: string) => readFileSync(file(name));

  for (const transport of ["frames", "http2"] as const) {
    const open = (identity: string, authority: string): EtcdStore => {
      const tls = { ca: read(`${authority}.crt`), certificate: read(`${identity}.crt`), key: read(`${identity}.key`) };
      return new EtcdStore({ endpoints: cluster.endpoints, tls, transport, requestTimeoutMs: 1000 });
    };

    it(`reads, writes and watches with a certificate, over ${transport}`, async () => {
      const store = open("client", "ca");
      const value = new Uint8Array(500_000).fill(7);
      const result = await store.put(`/tls/${transport}`, value, 0);
      assert.ok(result.ok);
      assert.deepEqual((await store.get(`/tls/${transport}`))?.value, value);
      for await (const batch of store.watch("/tls/", result.revision - 1, new AbortController().signal)) {
        assert.equal(batch.events[0]?.revision, result.revision);
        break;
      }
      await store.close();
    });

    it(`rejects an unknown client and an unknown server, over ${transport}`, async () => {
      for (const store of [open("stranger", "ca"), open("client", "other-ca")]) {
        await assert.rejects(store.revision(), (error) => error instanceof StoreError && error.code !== "closed");
        await store.close();
      }
    });
  }
});
