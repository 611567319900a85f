import assert from "node:assert/strict";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { after, before, suite, test } from "node:test";
import { type EtcdCluster, startEtcd } from "../../../test/support/etcd.ts";
import { eventually } from "../../../test/support/time.ts";
import { needs } from "../../../test/support/tools.ts";
import { type Identity, makeCa, makeIdentity } from "../../base/pki/make-certificate.ts";
import { systemClock } from "../../base/util/clock.ts";
import { openDirectly } from "./open-store.ts";

suite("the client certificate for etcd", { ...needs("etcd") }, () => {
  const now = Date.now();
  const authority = makeCa("etcd", now);
  const client = makeIdentity(authority, { commonName: "client" }, "client", now);
  const stranger = makeIdentity(makeCa("others", now), { commonName: "stranger" }, "client", now);
  let folder: string;
  let etcd: EtcdCluster;
  const file = (name: string) => path.join(folder, name);
  const write = async ({ certificate, key }: Identity, name: string) => {
    await writeFile(file(`${name}.crt`), certificate);
    await writeFile(file(`${name}.key`), key);
  };
  const open = () => {
    const files = { caFile: file("ca.crt"), certFile: file("client.crt"), keyFile: file("client.key") };
    return openDirectly({ store: { type: "etcd", servers: etcd.endpoints, ...files } }, "/registry/", systemClock);
  };

  before(async () => {
    folder = await mkdtemp(path.join(tmpdir(), "binnacle-etcd-files-"));
    await write(makeIdentity(authority, { commonName: "etcd", hosts: ["127.0.0.1"] }, "server", now), "server");
    await writeFile(file("ca.crt"), authority.certificate);
    etcd = await startEtcd({
      tls: { ca: file("ca.crt"), certificate: file("server.crt"), key: file("server.key") },
    });
  });
  after(async () => {
    await etcd?.stop();
    await rm(folder, { recursive: true, force: true });
  });

  test("is read from the files for every connection", async () => {
    await write(client, "client");
    const store = await open();
    try {
      const isServed = () =>
        store.revision().then(
          () => true,
          () => false,
        );
      assert.equal(await isServed(), true);
      // A key without its certificate, nothing, and no file: the last good pair is used meanwhile.
      for (const broken of [stranger.certificate, "", undefined]) {
        if (broken === undefined) await rm(file("client.crt"));
        else await writeFile(file("client.crt"), broken);
        await etcd.restart(0);
        await eventually(isServed, { what: "a connection with the pair from before" });
      }
      await write(stranger, "client");
      await etcd.restart(0);
      assert.equal(await isServed(), false);
      await write(client, "client");
      await eventually(isServed, { what: "a connection with the renewed certificate" });
    } finally {
      await store.close();
    }
  });
});
