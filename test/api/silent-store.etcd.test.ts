import assert from "node:assert/strict";
import { afterEach, beforeEach, describe, it } from "node:test";
import { type RunningBinnacle, startBinnacle } from "../support/binnacle.ts";
import { type Client, clientFor } from "../support/client.ts";
import { type EtcdCluster, startEtcd } from "../support/etcd.ts";
import { tokens } from "../support/oracle.ts";
import { TcpProxy } from "../support/tcp-proxy.ts";
import { eventually } from "../support/time.ts";
import { needs } from "../support/tools.ts";

const CONFIG_MAPS = "/api/v1/namespaces/default/configmaps";
/** A check that waits for etcd takes 2 s, another request at least 5 s. */
const CHECK_WAIT_MS = 1900;
const WAIT_MS = 4500;
const NO_WRITES = /the store rejects writes/g;

describe("etcd that keeps its connections but", { ...needs("etcd") }, () => {
  let etcd: EtcdCluster;
  let relay: TcpProxy;
  let server: RunningBinnacle;
  let client: Client;
  beforeEach(async () => {
    etcd = await startEtcd();
    relay = new TcpProxy(Number(new URL(etcd.endpoints[0] ?? "").port));
    await relay.listen();
    server = await startBinnacle({ etcdEndpoint: `http://127.0.0.1:${relay.port}` });
    client = clientFor(server.base, tokens.admin);
    assert.equal((await create("before")).status, 201);
  });
  afterEach(async () => {
    etcd.freeze(0, false);
    relay.hold(false);
    relay.delayMs = 0;
    await server.kill();
    await relay.close();
    await etcd.stop();
  });

  const timed = async (...request: Parameters<Client["call"]>) => {
    const startMs = performance.now();
    const answer = await client.call(...request);
    return { ...answer, ms: performance.now() - startMs };
  };
  const create = (name: string) => timed("POST", CONFIG_MAPS, { metadata: { name } });
  const readyStatus = async () => (await client.call("GET", "/readyz")).status;

  /** Requests of all sorts at once, and their responses. Returns how long the longest check and request took. */
  const wave = async () => {
    const [checks, reads, writes] = await Promise.all([
      Promise.all(["/readyz", "/livez", "/healthz"].map((path) => timed("GET", path))),
      Promise.all([`${CONFIG_MAPS}/before`, CONFIG_MAPS].map((path) => timed("GET", path))),
      Promise.all([create("meanwhile"), timed("DELETE", `${CONFIG_MAPS}/before`)]),
    ]);
    for (const { status, body } of checks) {
      assert.equal(status, 500);
      assert.match(body, /^\[-\]etcd failed: reason withheld$/m);
    }
    for (const [answers, words] of [
      [reads, "Timeout: request did not complete within the allotted timeout"],
      [writes, "Timeout: request did not complete within requested timeout - context deadline exceeded"],
    ] as const) {
      for (const { status, body, headers } of answers) {
        assert.deepEqual(
          [status, body.reason, body.message, headers["retry-after"]],
          [504, "Timeout", words, "2"],
          JSON.stringify(body),
        );
      }
    }
    const longest = (answers: readonly { readonly ms: number }[]) => Math.max(...answers.map(({ ms }) => ms));
    return { checkMs: longest(checks), requestMs: longest([...reads, ...writes]) };
  };
  /** The least of several tries: a busy machine may be slow now and then. */
  const least = async (run: () => Promise<number>) => Math.min(await run(), await run(), await run());

  const whatHolds = async (begin: () => void, end: () => void) => {
    const stop = new AbortController();
    const watching = client.watch(`${CONFIG_MAPS}?watch=true&resourceVersion=0`, stop.signal);
    assert.equal((await watching.next()).value.type, "ADDED");
    begin();
    await wave();
    // After the timeout of the first requests, no request waits for etcd.
    const later = [await wave(), await wave(), await wave()];
    const [checkMs, requestMs] = [later.map((one) => one.checkMs), later.map((one) => one.requestMs)];
    assert.ok(Math.min(...checkMs) < CHECK_WAIT_MS, checkMs.join());
    assert.ok(Math.min(...requestMs) < WAIT_MS, requestMs.join());
    for (const path of [`${CONFIG_MAPS}/before`, CONFIG_MAPS]) {
      const cachedMs = await least(async () => {
        const { status, ms } = await timed("GET", `${path}?resourceVersion=0`);
        assert.equal(status, 200);
        return ms;
      });
      assert.ok(cachedMs < WAIT_MS, `${cachedMs} ms`);
    }
    const cached = client.watch(`${CONFIG_MAPS}?watch=true&resourceVersion=0`, stop.signal);
    assert.equal((await cached.next()).value.object.metadata.name, "before");
    const output = server.process.output();
    assert.equal(output.match(NO_WRITES)?.length, 1, output);
    assert.match(output, /etcd does not answer/);

    end();
    await eventually(async () => (await readyStatus()) === 200, { everyMs: 200, what: "ready" });
    assert.equal((await create("after")).status, 201);
    for (const events of [watching, cached]) {
      const names = new Set<string>();
      while (!names.has("after")) names.add((await events.next()).value.object.metadata.name);
    }
    stop.abort();
    assert.match(server.process.output(), /the store accepts writes again/);
    assert.equal(server.process.output().match(NO_WRITES)?.length, 1);
  };

  it("is paused, responses report it within seconds, then at once, until it continues", () =>
    whatHolds(
      () => etcd.freeze(0, true),
      () => etcd.freeze(0, false),
    ));

  it("the network stops forwarding, responses report it within seconds, then at once, until it continues", () =>
    whatHolds(
      () => relay.hold(true),
      () => relay.hold(false),
    ));

  it("takes two seconds for every response, requests are slow and the server is unready", async () => {
    relay.delayMs = 1000;
    for (let i = 0; i < 2; i++) {
      const [ready, ...requests] = await Promise.all([
        timed("GET", "/readyz"),
        timed("GET", `${CONFIG_MAPS}/before`),
        timed("GET", CONFIG_MAPS),
        create(`slow-${i}`),
        timed("PUT", `${CONFIG_MAPS}/before`, { metadata: { name: "before" }, data: { round: String(i) } }),
      ]);
      assert.equal(ready.status, 500);
      for (const { status, body, ms } of requests) {
        assert.ok(status === 200 || status === 201, JSON.stringify(body));
        assert.ok(ms > 1900, `${ms} ms`);
      }
      const cachedMs = await least(async () => (await timed("GET", `${CONFIG_MAPS}/before?resourceVersion=0`)).ms);
      assert.ok(cachedMs < CHECK_WAIT_MS, `${cachedMs} ms`);
    }
    relay.delayMs = 0;
    await eventually(async () => (await readyStatus()) === 200, { everyMs: 200, what: "ready" });
    assert.doesNotMatch(server.process.output(), /does not answer|rejects writes/);
  });
});
