import assert from "node:assert/strict";
import { afterEach, beforeEach, suite, test } from "node:test";
import { countCalls, ownedBy, TestCluster, until } from "../../shared/controllers.suite.ts";
import { GarbageCollection } from "./garbage-collection.ts";

suite("garbage collection", () => {
  let cluster: TestCluster;
  let collection: GarbageCollection;

  beforeEach(() => {
    cluster = new TestCluster();
    collection = new GarbageCollection(cluster);
    cluster.start(collection);
  });
  afterEach(async () => {
    await cluster.stop();
    assert.deepEqual(cluster.problems, []);
  });

  async function settled(): Promise<void> {
    await until(async () => collection.isSettled(await cluster.store.revision()));
  }

  test("deletes dependents of a deleted owner, and their dependents", async () => {
    const owner = await cluster.create("configmaps", "owner");
    const child = await cluster.create("configmaps", "child", { owners: [ownedBy(owner)] });
    await cluster.create("secrets", "grandchild", { owners: [ownedBy(child)] });
    await settled();
    assert.ok(await cluster.find("secrets", "grandchild"));
    await cluster.delete("configmaps", "owner");
    await settled();
    assert.equal(await cluster.find("configmaps", "child"), undefined);
    assert.equal(await cluster.find("secrets", "grandchild"), undefined);
  });

  test("keeps a dependent with a living owner, and removes the dangling reference", async () => {
    const first = await cluster.create("configmaps", "first");
    const second = await cluster.create("configmaps", "second");
    await cluster.create("configmaps", "child", { owners: [ownedBy(first), ownedBy(second)] });
    await cluster.delete("configmaps", "first");
    await settled();
    const child = await cluster.find("configmaps", "child");
    assert.deepEqual(child?.metadata.ownerReferences, [ownedBy(second)]);
  });

  test("deletes an object whose owner never existed, or has another uid", async () => {
    const owner = await cluster.create("configmaps", "owner");
    await cluster.create("configmaps", "a", { owners: [{ ...ownedBy(owner), uid: "another" }] });
    await cluster.create("configmaps", "b", { owners: [{ ...ownedBy(owner), name: "missing" }] });
    await settled();
    assert.equal(await cluster.find("configmaps", "a"), undefined);
    assert.equal(await cluster.find("configmaps", "b"), undefined);
    assert.ok(await cluster.find("configmaps", "owner"));
  });

  test("deletes an object created after its owner was deleted, even if other dependents were seen", async () => {
    const owner = await cluster.create("configmaps", "owner", { finalizers: ["example.com/hold"] });
    await cluster.create("configmaps", "early", { owners: [ownedBy(owner)] });
    await settled();
    await cluster.delete("configmaps", "owner");
    await cluster.change("configmaps", "owner", ({ metadata }) => delete metadata.finalizers);
    await cluster.create("configmaps", "late", { owners: [ownedBy(owner)] });
    await settled();
    assert.equal(await cluster.count("configmaps"), 0);
  });

  test("treats a namespaced owner in another namespace as absent, but not a cluster-scoped one", async () => {
    const elsewhere = await cluster.create("configmaps", "owner", { namespace: "elsewhere" });
    const global = await cluster.create("clusterroles", "owner");
    await cluster.create("configmaps", "good", { namespace: "elsewhere", owners: [ownedBy(elsewhere)] });
    await settled();
    await cluster.create("configmaps", "bad", { owners: [ownedBy(elsewhere)] });
    await cluster.create("configmaps", "fine", { owners: [ownedBy(global)] });
    await settled();
    assert.equal(await cluster.find("configmaps", "bad"), undefined);
    assert.ok(await cluster.find("configmaps", "fine"));
    assert.ok(await cluster.find("configmaps", "good", "elsewhere"));
  });

  test("ignores a cluster-scoped object with a namespaced owner", async () => {
    const owner = await cluster.create("configmaps", "owner");
    await cluster.create("clusterroles", "child", { owners: [ownedBy(owner)] });
    await cluster.create("clusterroles", "other", { owners: [{ ...ownedBy(owner), uid: "absent" }] });
    await cluster.delete("configmaps", "owner");
    await settled();
    assert.equal(await cluster.count("clusterroles"), 2);
  });

  test("keeps dependents of an owner of an unknown kind until the kind is known", async () => {
    const definitions = cluster.catalog.definitions;
    cluster.catalog.replace(definitions.filter(({ kind }) => kind !== "Lease"));
    await cluster.create("configmaps", "child", {
      owners: [{ apiVersion: "coordination.k8s.io/v1", kind: "Lease", name: "x", uid: "x" }],
    });
    await settled();
    assert.ok(await cluster.find("configmaps", "child"));
    cluster.catalog.replace(definitions);
    await settled();
    assert.equal(await cluster.find("configmaps", "child"), undefined);
  });

  test("notices a new owner reference to an absent object", async () => {
    const owner = await cluster.create("configmaps", "owner");
    await cluster.create("configmaps", "child", { owners: [ownedBy(owner)] });
    await settled();
    await cluster.change("configmaps", "child", ({ metadata }) => {
      metadata.ownerReferences = [{ ...ownedBy(owner), name: "absent", uid: "absent" }];
    });
    await settled();
    assert.equal(await cluster.find("configmaps", "child"), undefined);
  });

  test("foreground deletion waits only for dependents with blockOwnerDeletion", async () => {
    const owner = await cluster.create("configmaps", "owner");
    const holds = ["example.com/hold"];
    await cluster.create("configmaps", "blocking", { owners: [ownedBy(owner, true)], finalizers: holds });
    await cluster.create("configmaps", "free", { owners: [ownedBy(owner)], finalizers: holds });
    await settled();
    await cluster.delete("configmaps", "owner", { propagationPolicy: "Foreground" });
    await settled();
    const waiting = await cluster.find("configmaps", "owner");
    assert.deepEqual(waiting?.metadata.finalizers, ["foregroundDeletion"]);
    assert.ok((await cluster.find("configmaps", "blocking"))?.metadata.deletionTimestamp);
    assert.ok((await cluster.find("configmaps", "free"))?.metadata.deletionTimestamp);
    await cluster.change("configmaps", "blocking", ({ metadata }) => delete metadata.finalizers);
    await settled();
    assert.equal(await cluster.find("configmaps", "blocking"), undefined);
    assert.equal(await cluster.find("configmaps", "owner"), undefined);
    assert.ok(await cluster.find("configmaps", "free"));
  });

  test("foreground deletion also waits for dependents of dependents", async () => {
    const owner = await cluster.create("configmaps", "owner");
    const child = await cluster.create("configmaps", "child", { owners: [ownedBy(owner, true)] });
    const holds = ["example.com/hold"];
    await cluster.create("configmaps", "grandchild", { owners: [ownedBy(child, true)], finalizers: holds });
    await settled();
    await cluster.delete("configmaps", "owner", { propagationPolicy: "Foreground" });
    await settled();
    assert.deepEqual((await cluster.find("configmaps", "child"))?.metadata.finalizers, ["foregroundDeletion"]);
    assert.ok(await cluster.find("configmaps", "owner"));
    await cluster.change("configmaps", "grandchild", ({ metadata }) => delete metadata.finalizers);
    await settled();
    assert.equal(await cluster.count("configmaps"), 0);
  });

  test("foreground deletion releases a dependent that has another owner", async () => {
    const owner = await cluster.create("configmaps", "owner");
    const other = await cluster.create("configmaps", "other");
    await cluster.create("configmaps", "child", { owners: [ownedBy(owner, true), ownedBy(other)] });
    await cluster.delete("configmaps", "owner", { propagationPolicy: "Foreground" });
    await settled();
    assert.equal(await cluster.find("configmaps", "owner"), undefined);
    assert.deepEqual((await cluster.find("configmaps", "child"))?.metadata.ownerReferences, [ownedBy(other)]);
  });

  test("orphans stay without the reference, also with other owners", async () => {
    const owner = await cluster.create("configmaps", "owner");
    const other = await cluster.create("configmaps", "other");
    await cluster.create("configmaps", "one", { owners: [ownedBy(owner)] });
    await cluster.create("configmaps", "two", { owners: [ownedBy(owner, true), ownedBy(other)] });
    await cluster.delete("configmaps", "owner", { propagationPolicy: "Orphan" });
    await settled();
    assert.equal(await cluster.find("configmaps", "owner"), undefined);
    assert.equal((await cluster.find("configmaps", "one"))?.metadata.ownerReferences, undefined);
    assert.deepEqual((await cluster.find("configmaps", "two"))?.metadata.ownerReferences, [ownedBy(other)]);
  });

  test("deletes a cycle of pods in the foreground", async () => {
    const [a, b, c] = [
      await cluster.create("pods", "a"),
      await cluster.create("pods", "b"),
      await cluster.create("pods", "c"),
    ];
    const link = (name: string, owner: typeof a) =>
      cluster.change("pods", name, ({ metadata }) => {
        metadata.ownerReferences = [{ ...ownedBy(owner, true), controller: true }];
      });
    await link("a", c);
    await link("b", a);
    await link("c", b);
    await settled();
    assert.equal(await cluster.count("pods"), 3);
    await cluster.delete("pods", "a", { propagationPolicy: "Foreground" });
    await settled();
    assert.equal(await cluster.count("pods"), 0);
  });

  test("does not collect events", async () => {
    const owners = [{ apiVersion: "v1", kind: "ConfigMap", name: "absent", uid: "absent" }];
    await cluster.create("events", "event", { owners });
    await settled();
    assert.ok(await cluster.find("events", "event"));
  });

  test("processes deletions from before the start", async () => {
    const late = new TestCluster();
    try {
      const owner = await late.create("configmaps", "owner");
      const held = await late.create("configmaps", "held");
      for (let at = 0; at < 1200; at += 1) await late.create("secrets", `child-${at}`, { owners: [ownedBy(owner)] });
      await late.create("configmaps", "orphan", { owners: [ownedBy(held)] });
      await late.delete("configmaps", "owner");
      await late.delete("configmaps", "held", { propagationPolicy: "Orphan" });
      const collector = new GarbageCollection(late);
      late.start(collector);
      await until(async () => collector.isSettled(await late.store.revision()));
      assert.equal(await late.count("secrets"), 0);
      assert.equal((await late.find("configmaps", "orphan"))?.metadata.ownerReferences, undefined);
      assert.equal(await late.count("configmaps"), 1);
    } finally {
      await late.stop();
    }
  });

  for (const propagationPolicy of ["Background", "Foreground", "Orphan"]) {
    test(`1,000 dependents take a few store calls each: ${propagationPolicy}`, async (t) => {
      const owner = await cluster.create("configmaps", "owner");
      const owners = [ownedBy(owner, true)];
      for (let at = 0; at < 1000; at += 1) await cluster.create("secrets", `child-${at}`, { owners });
      await settled();
      const calls = countCalls(t, cluster.store);
      await cluster.delete("configmaps", "owner", { propagationPolicy });
      await settled();
      const counted = calls();
      assert.equal(await cluster.count("secrets"), propagationPolicy === "Orphan" ? 1000 : 0);
      assert.equal(await cluster.count("configmaps"), 0);
      assert.ok(counted < 6000, `${counted} store calls`);
    });
  }

  test("two collectors can run concurrently", async () => {
    cluster.start(new GarbageCollection(cluster));
    const owner = await cluster.create("configmaps", "owner");
    const other = await cluster.create("configmaps", "other");
    for (let at = 0; at < 50; at += 1) {
      await cluster.create("secrets", `gone-${at}`, { owners: [ownedBy(owner, true)] });
      await cluster.create("secrets", `kept-${at}`, { owners: [ownedBy(owner, true), ownedBy(other)] });
    }
    await cluster.delete("configmaps", "owner", { propagationPolicy: "Foreground" });
    await until(async () => (await cluster.count("secrets")) === 50 && (await cluster.count("configmaps")) === 1);
    await settled();
    assert.equal(await cluster.count("secrets"), 50);
  });
});
