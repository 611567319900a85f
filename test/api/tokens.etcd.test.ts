import assert from "node:assert/strict";
import { generateKeyPairSync } from "node:crypto";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { after, before, suite, test } from "node:test";
import { type RunningBinnacle, startBinnacle } from "../support/binnacle.ts";
import { clientFor } from "../support/client.ts";
import { type EtcdCluster, startEtcd } from "../support/etcd.ts";
import { tokens } from "../support/oracle.ts";
import { eventually } from "../support/time.ts";
import { needs } from "../support/tools.ts";

const ACCOUNTS = "/api/v1/namespaces/default/serviceaccounts";
const ROUNDS = 20;

suite("tokens with several servers on one etcd", { ...needs("etcd"), timeout: 120_000 }, () => {
  let etcd: EtcdCluster;
  let folder: string;
  let servers: RunningBinnacle[];
  before(async () => {
    folder = await mkdtemp(path.join(tmpdir(), "binnacle-keys-"));
    const file = path.join(folder, "signing.pem");
    const { privateKey } = generateKeyPairSync("rsa", { modulusLength: 2048 });
    await writeFile(file, privateKey.export({ type: "pkcs8", format: "pem" }));
    etcd = await startEtcd();
    const etcdEndpoint = etcd.endpoints[0];
    const flags = [`--service-account-signing-key-file=${file}`];
    servers = await Promise.all([1, 2].map(() => startBinnacle({ etcdEndpoint, flags })));
  });
  after(async () => {
    await Promise.all((servers ?? []).map((server) => server.kill()));
    await etcd?.stop();
    await rm(folder, { recursive: true, force: true });
  });

  test("a token of one is good for the other, and ends for both when its account is deleted", async () => {
    const [one, other] = servers.map(({ base }) => clientFor(base, tokens.admin));
    assert.ok(one && other);
    for (let round = 0; round < ROUNDS; round += 1) {
      const name = `bot-${round}`;
      await one.call("POST", ACCOUNTS, { metadata: { name } });
      const request = { apiVersion: "authentication.k8s.io/v1", kind: "TokenRequest" };
      const issued = await one.call("POST", `${ACCOUNTS}/${name}/token`, request);
      const token: string = issued.body.status.token;
      const clients = servers.map(({ base }) => clientFor(base, token));
      const statusOf = async (index: number): Promise<number | undefined> =>
        (await clients[index]?.call("GET", "/version"))?.status;
      assert.deepEqual([await statusOf(0), await statusOf(1)], [200, 200]);
      assert.equal((await one.call("DELETE", `${ACCOUNTS}/${name}`)).status, 200);
      for (const index of [0, 1]) await eventually(async () => (await statusOf(index)) === 401, { withinMs: 500 });
    }
  });
});
