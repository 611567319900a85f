import assert from "node:assert/strict";
import { afterEach, beforeEach, suite, test } from "node:test";
import { isObject, type JsonObject, type KubeObject } from "../../../../base/api/object.ts";
import { countCalls, ownedBy, TestCluster, until } from "../../shared/controllers.suite.ts";
import { GarbageCollection } from "../garbage-collector/garbage-collection.ts";
import { rootCaPublisher } from "../root-ca-publisher.ts";
import { serviceAccounts } from "../service-accounts.ts";
import { NamespaceDeletion } from "./namespace-deletion.ts";

/** Only a pod that is bound to a node has a grace period. */
const POD_ON_NODE = {
  nodeName: "node",
  restartPolicy: "Always",
  dnsPolicy: "ClusterFirst",
  terminationGracePeriodSeconds: 30,
  containers: [{ name: "main", image: "i", imagePullPolicy: "Always", terminationMessagePolicy: "File" }],
};

suite("NamespaceDeletion", () => {
  let cluster: TestCluster;

  beforeEach(async () => {
    cluster = new TestCluster();
    cluster.start(new NamespaceDeletion(cluster));
    await cluster.create("namespaces", "doomed");
    await cluster.create("namespaces", "other");
  });
  afterEach(async () => {
    await cluster.stop();
    assert.deepEqual(cluster.problems, []);
  });

  const isGone = async () => (await cluster.find("namespaces", "doomed")) === undefined;

  async function condition(type: string): Promise<JsonObject | undefined> {
    const namespace = await cluster.find("namespaces", "doomed");
    const conditions = isObject(namespace?.status) ? namespace.status.conditions : undefined;
    return Array.isArray(conditions) ? conditions.filter(isObject).find((one) => one.type === type) : undefined;
  }

  test("deletes the content, then the namespace, and nothing else", async () => {
    for (const namespace of ["doomed", "other"]) {
      await cluster.create("configmaps", "one", { namespace });
      await cluster.create("services", "two", { namespace });
      await cluster.create("leases", "three", { namespace });
      await cluster.create("events", "four", { namespace });
    }
    await cluster.delete("namespaces", "doomed");
    await until(isGone);
    for (const plural of ["configmaps", "services", "leases", "events"]) {
      assert.equal(await cluster.count(plural, "doomed"), 0, plural);
      assert.equal(await cluster.count(plural, "other"), 1, plural);
    }
    const other = await cluster.find("namespaces", "other");
    assert.equal(other?.metadata.deletionTimestamp, undefined);
  });

  test("sets all conditions of an empty namespace before it is deleted", async () => {
    await cluster.delete("namespaces", "doomed");
    await until(isGone);
    const shown: KubeObject[] = [];
    for await (const { events } of cluster.store.watch(
      "/registry/namespaces/doomed",
      1,
      new AbortController().signal,
    )) {
      for (const { entry } of events) if (entry) shown.push(JSON.parse(Buffer.from(entry.value).toString()));
      if (events.some(({ entry }) => entry === undefined)) break;
    }
    const status = shown.findLast((one) => isObject(one.status) && Array.isArray(one.status.conditions))?.status;
    assert.ok(isObject(status) && Array.isArray(status.conditions));
    assert.equal(status.phase, "Terminating");
    assert.deepEqual(
      status.conditions.filter(isObject).map(({ type, status, reason, message }) => [type, status, reason, message]),
      [
        ["NamespaceDeletionDiscoveryFailure", "False", "ResourcesDiscovered", "All resources successfully discovered"],
        [
          "NamespaceDeletionGroupVersionParsingFailure",
          "False",
          "ParsedGroupVersions",
          "All legacy kube types successfully parsed",
        ],
        [
          "NamespaceDeletionContentFailure",
          "False",
          "ContentDeleted",
          "All content successfully deleted, may be waiting on finalization",
        ],
        ["NamespaceContentRemaining", "False", "ContentRemoved", "All content successfully removed"],
        [
          "NamespaceFinalizersRemaining",
          "False",
          "ContentHasNoFinalizers",
          "All content-preserving finalizers finished",
        ],
      ],
    );
  });

  test("reports and waits for finalizers, and notices their removal at once", async () => {
    const finalizers = ["example.com/hold"];
    await cluster.create("configmaps", "held", { namespace: "doomed", finalizers });
    await cluster.create("roles", "held", { namespace: "doomed", finalizers });
    await cluster.delete("namespaces", "doomed");
    await until(async () => (await condition("NamespaceContentRemaining"))?.status === "True");
    assert.equal(
      (await condition("NamespaceContentRemaining"))?.message,
      "Some resources are remaining: configmaps. has 1 resource instances, roles.rbac.authorization.k8s.io has 1 resource instances",
    );
    assert.equal(
      (await condition("NamespaceFinalizersRemaining"))?.message,
      "Some content in the namespace has finalizers remaining: example.com/hold in 2 resource instances",
    );
    assert.equal((await condition("NamespaceDeletionContentFailure"))?.status, "False");
    await cluster.change("configmaps", "held", ({ metadata }) => delete metadata.finalizers, "doomed");
    await cluster.change("roles", "held", ({ metadata }) => delete metadata.finalizers, "doomed");
    await until(isGone);
  });

  test("deletes pods first with their grace period, and the rest afterwards", async () => {
    await cluster.create("pods", "pod", { namespace: "doomed", content: { spec: POD_ON_NODE } });
    await cluster.create("configmaps", "map", { namespace: "doomed" });
    await cluster.delete("namespaces", "doomed");
    await until(async () => (await condition("NamespaceDeletionContentFailure")) !== undefined);
    const pod = await cluster.find("pods", "pod", "doomed");
    assert.equal(pod?.metadata.deletionGracePeriodSeconds, 30);
    assert.ok(await cluster.find("configmaps", "map", "doomed"));
    await cluster.delete("pods", "pod", { gracePeriodSeconds: 0 }, "doomed");
    await until(isGone);
    assert.equal(await cluster.count("configmaps", "doomed"), 0);
  });

  test("deletes an object created during the deletion of its namespace, unless the namespace was recreated", async () => {
    await cluster.delete("namespaces", "doomed");
    await until(isGone);
    await cluster.create("configmaps", "late", { namespace: "doomed" });
    await until(async () => (await cluster.count("configmaps", "doomed")) === 0);
    await cluster.create("namespaces", "doomed");
    await cluster.create("configmaps", "new", { namespace: "doomed" });
    await cluster.create("namespaces", "last");
    await cluster.delete("namespaces", "last");
    await until(async () => (await cluster.find("namespaces", "last")) === undefined);
    assert.ok(await cluster.find("configmaps", "new", "doomed"));
  });

  test("finishes a deletion from before the start", async () => {
    const late = new TestCluster();
    try {
      await late.create("namespaces", "doomed");
      await late.create("configmaps", "map", { namespace: "doomed" });
      await late.delete("namespaces", "doomed");
      late.start(new NamespaceDeletion(late));
      await until(async () => (await late.find("namespaces", "doomed")) === undefined);
      assert.equal(await late.count("configmaps"), 0);
    } finally {
      await late.stop();
    }
  });

  test("empties a namespace with other finalizers, and leaves these alone", async () => {
    await cluster.change("namespaces", "doomed", (object) => {
      object.metadata.finalizers = ["example.com/hold"];
    });
    await cluster.create("configmaps", "map", { namespace: "doomed" });
    await cluster.delete("namespaces", "doomed");
    await until(async () => {
      const namespace = await cluster.find("namespaces", "doomed");
      return isObject(namespace?.spec) && namespace.spec.finalizers === undefined;
    });
    assert.equal(await cluster.count("configmaps", "doomed"), 0);
    await cluster.change("namespaces", "doomed", ({ metadata }) => delete metadata.finalizers);
    await until(isGone);
  });

  test("1,000 mixed objects are gone after a few store calls each, with all controllers running", async (t) => {
    cluster.start(
      new NamespaceDeletion(cluster),
      new GarbageCollection(cluster),
      serviceAccounts(cluster),
      rootCaPublisher(cluster, { rootCa: "PEM" }),
    );
    const namespace = "doomed";
    const owner = await cluster.create("configmaps", "owner", { namespace });
    const plurals = ["configmaps", "secrets", "services", "leases", "serviceaccounts", "roles", "endpoints", "pods"];
    for (let at = 0; at < 1000; at += 1) {
      const owners = at % 3 === 0 ? [ownedBy(owner, at % 2 === 0)] : undefined;
      const plural = plurals[at % plurals.length] ?? "";
      await cluster.create(plural, `object-${at}`, { namespace, owners });
    }
    const calls = countCalls(t, cluster.store);
    await cluster.delete("namespaces", "doomed");
    const polls = { count: 0 };
    await until(() => {
      polls.count += 1;
      return isGone();
    });
    const counted = calls() - polls.count;
    for (const plural of plurals) assert.equal(await cluster.count(plural, namespace), 0, plural);
    assert.ok(counted < 5000, `${counted} store calls`);
    assert.ok(await cluster.find("serviceaccounts", "default", "other"));
  });
});
