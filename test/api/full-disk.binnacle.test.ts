import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { after, before, describe, it } from "node:test";
import { type RunningBinnacle, startBinnacle } from "../support/binnacle.ts";
import { type Client, clientFor } from "../support/client.ts";
import { canMount, withMounts } from "../support/mounts.ts";
import { tokens } from "../support/oracle.ts";
import { eventually } from "../support/time.ts";

const CONFIG_MAPS = "/api/v1/namespaces/default/configmaps";
/** A full disk is reported like etcd without space. For other failures it is unknown whether a retry will succeed. */
const REFUSALS =
  /^(?:etcdserver: mvcc: database space exceeded|The create operation against configmaps could not be completed at this time, please try again\.)$/;
const mayMount = canMount();
const limitFiles = (server: RunningBinnacle, bytes: string) =>
  execFileSync("prlimit", ["--pid", String(server.process.pid), `--fsize=${bytes}:`]);

describe("a disk that takes no more", () => {
  let folder = "";
  before(async () => {
    folder = await mkdtemp(path.join(tmpdir(), "binnacle-disk-"));
  });
  after(() => rm(folder, { recursive: true, force: true }));

  const create = (client: Client, name: string) =>
    client.call("POST", CONFIG_MAPS, { metadata: { name }, data: { large: "x".repeat(900_000) } });

  /** Checks the response, the log and readiness during the failure and after recovery. */
  const whatHolds = async (server: RunningBinnacle, cause: RegExp, recover: () => unknown) => {
    const client = clientFor(server.base, tokens.admin);
    const refused: string[] = [];
    for (let i = 0; refused.length < 3 && i < 40; i++) {
      const { status, body } = await create(client, `c${i}`);
      if (status === 201) continue;
      assert.deepEqual([status, REFUSALS.test(body.message)], [500, true], body.message);
      refused.push(`c${i}`);
    }
    assert.equal(refused.length, 3);
    const unready = await client.call("GET", "/readyz");
    assert.equal(unready.status, 500);
    assert.match(unready.body, /^\[-\]etcd-readiness failed: reason withheld$/m);
    assert.equal((await client.call("GET", "/livez")).status, 200);
    assert.equal((await client.call("GET", `${CONFIG_MAPS}/fits`)).status, 200);
    const lines = server.process.output().split("\n");
    const reported = lines.filter((line) => line.includes("the store rejects writes"));
    assert.equal(reported.length, 1, server.process.output());
    assert.match(reported[0] ?? "", cause);

    await recover();
    const isReady = async () => (await client.call("GET", "/readyz")).status === 200;
    await eventually(isReady, { everyMs: 200, what: "the server is ready by itself" });
    assert.match(server.process.output(), /the store accepts writes again/);
    const before = (await client.call("GET", CONFIG_MAPS)).body.items.length;
    for (const name of refused) assert.equal((await create(client, name)).status, 201);
    assert.equal((await client.call("GET", CONFIG_MAPS)).body.items.length, before + refused.length);
  };

  const start = async (options: Parameters<typeof startBinnacle>[0]) => {
    const server = await startBinnacle(options);
    assert.equal((await create(clientFor(server.base, tokens.admin), "fits")).status, 201);
    return server;
  };

  const manner = mayMount ? "a full tmpfs" : "by a limit of file sizes, as nothing can be mounted here";
  it(`is reported by the response, one log line and readiness, until there is room (${manner})`, async () => {
    const ballast = path.join(folder, "ballast");
    const mount = `mount -t tmpfs -o size=24m none ${folder}\nhead -c 8388608 /dev/zero > ${ballast}`;
    const onDisk = { launcher: withMounts(mount), flags: [`--store=sqlite:${path.join(folder, "store.db")}`] };
    const server = await start(mayMount ? onDisk : { store: "sqlite" });
    try {
      if (!mayMount) limitFiles(server, "4000000");
      const recover = () =>
        mayMount ? rm(`/proc/${server.process.pid}/root${ballast}`) : limitFiles(server, "unlimited");
      await whatHolds(server, mayMount ? /database or disk is full/ : /disk/, recover);
    } finally {
      await server.kill();
    }
  });

  it("is reported if not a byte can be written, like a read-only disk (by a limit of file sizes: a file system with open files stays writable)", async () => {
    const server = await start({ store: "sqlite" });
    try {
      limitFiles(server, "0");
      await whatHolds(server, /disk I\/O error|database or disk is full/, () => limitFiles(server, "unlimited"));
    } finally {
      await server.kill();
    }
  });

  const readOnly = mayMount ? "a read-only mount" : "a folder of the kernel, as nothing can be mounted here";
  it(`is the reason reported by a server that cannot start on it (${readOnly})`, async () => {
    const mount = `mount --bind ${folder} ${folder}\nmount -o remount,bind,ro ${folder}`;
    const file = path.join(mayMount ? folder : "/sys/kernel", "store.db");
    const starting = startBinnacle({
      ...(mayMount ? { launcher: withMounts(mount) } : {}),
      flags: [`--store=sqlite:${file}`],
    });
    const message = mayMount
      ? /binnacle: --store=sqlite:\S+: EROFS: read-only file system/
      : /binnacle: .*\/sys\/kernel\/store\.db/;
    await assert.rejects(starting, message);
  });
});
