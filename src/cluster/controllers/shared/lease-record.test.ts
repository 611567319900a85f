import assert from "node:assert/strict";
import { afterEach, beforeEach, suite, test } from "node:test";
import type { KubeObject } from "../../../base/api/object.ts";
import { ManualClock } from "../../../base/util/environment.suite.ts";
import { TestCluster, until } from "./controllers.suite.ts";
import { runAsLeader } from "./leader.ts";
import { leaseRecord } from "./lease-record.ts";

suite("leaseRecord", () => {
  const clock = new ManualClock();
  let cluster: TestCluster;
  let leaders: string[];
  let candidates: { stop(): Promise<void> }[];

  beforeEach(() => {
    cluster = new TestCluster();
    leaders = [];
    candidates = [];
  });
  afterEach(async () => {
    for (const { stop } of candidates) await stop();
    await cluster.stop();
    assert.deepEqual(cluster.problems, []);
  });

  function candidate(identity: string) {
    const abort = new AbortController();
    const record = leaseRecord(cluster, "manager", identity);
    const ended = runAsLeader(record, clock, abort.signal, async (signal) => {
      leaders.push(identity);
      await new Promise<void>((resolve) => signal.addEventListener("abort", () => resolve()));
      leaders.splice(leaders.indexOf(identity), 1);
    });
    const stop = async () => {
      abort.abort();
      await ended;
    };
    candidates.push({ stop });
    return { stop };
  }

  const lease = async () =>
    (await cluster.find("leases", "manager", "kube-system")) as KubeObject & { spec: LeaseSpec };
  interface LeaseSpec {
    [member: string]: string | number;
  }
  const leads = (identity: string) => until(() => leaders.length === 1 && leaders[0] === identity);
  const hold = (holderIdentity: string) =>
    cluster.create("leases", "manager", {
      namespace: "kube-system",
      content: { spec: { holderIdentity, leaseDurationSeconds: 20, leaseTransitions: 3 } },
    });

  test("creates the Lease, renews it every two seconds, and releases it", async () => {
    const { stop } = candidate("a");
    await leads("a");
    const { spec, metadata } = await lease();
    assert.partialDeepStrictEqual(spec, { holderIdentity: "a", leaseDurationSeconds: 15, leaseTransitions: 0 });
    assert.equal(spec.acquireTime, spec.renewTime);
    await clock.advance(2000);
    await until(async () => (await lease()).metadata.resourceVersion !== metadata.resourceVersion);
    assert.equal((await lease()).spec.acquireTime, spec.acquireTime);
    await stop();
    const released = { holderIdentity: "", leaseDurationSeconds: 1, leaseTransitions: 0 };
    assert.partialDeepStrictEqual((await lease()).spec, released);
    // The Event is written as well: the store may be closed next.
    const messages = (await cluster.list("events", "kube-system")).map(({ message }) => message);
    assert.deepEqual(messages, ["a became leader", "a stopped leading"]);
  });

  test("hands over to another candidate", async () => {
    const { stop } = candidate("a");
    await leads("a");
    candidate("b");
    await stop();
    await leads("b");
    assert.partialDeepStrictEqual((await lease()).spec, { holderIdentity: "b", leaseTransitions: 1 });
  });

  test("waits until the Lease of another program has expired", async () => {
    await hold("real");
    candidate("a");
    await until(() => clock.timerCount === 1);
    await clock.advance(19_999);
    assert.deepEqual(leaders, []);
    await clock.advance(1);
    await leads("a");
    assert.partialDeepStrictEqual((await lease()).spec, { holderIdentity: "a", leaseTransitions: 4 });
  });

  test("leads at once if it is the holder already", async () => {
    await hold("a");
    candidate("a");
    await leads("a");
    assert.equal((await lease()).spec.leaseTransitions, 3);
  });

  test("stops when another program takes the Lease", async () => {
    candidate("a");
    await leads("a");
    const take = (object: KubeObject) => {
      object.spec = { ...(object as KubeObject & { spec: LeaseSpec }).spec, holderIdentity: "real" };
    };
    await cluster.change("leases", "manager", take, "kube-system");
    await clock.advance(2000);
    await until(() => leaders.length === 0);
    assert.equal((await lease()).spec.holderIdentity, "real");
  });
});
