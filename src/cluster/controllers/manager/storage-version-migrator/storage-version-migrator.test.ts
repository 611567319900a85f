import assert from "node:assert/strict";
import { afterEach, beforeEach, suite, test } from "node:test";
import type { AdmissionPlugin } from "../../../../access/admission/plugin.ts";
import { forbidden } from "../../../../base/api/api-error.ts";
import { makeCa } from "../../../../base/pki/make-certificate.ts";
import { ManualClock } from "../../../../base/util/environment.suite.ts";
import { MemoryStore } from "../../../../storage/memory.ts";
import { TestCluster, until } from "../../shared/controllers.suite.ts";
import type { Migration } from "./migration.ts";
import { storageVersionMigrator } from "./storage-version-migrator.ts";

suite("storage-version-migrator-controller", () => {
  let cluster: TestCluster;
  let clock: ManualClock;
  let denied: string[];

  beforeEach(() => {
    clock = new ManualClock();
    denied = [];
    const plugin: AdmissionPlugin = {
      name: "Deny",
      handles: () => true,
      async validate({ name }) {
        if (denied.includes(name)) throw forbidden({ group: "", resource: "configmaps" }, name, "not now");
      },
    };
    cluster = new TestCluster(new MemoryStore(), { clock, plugins: [plugin] });
    cluster.start(storageVersionMigrator(cluster));
  });
  afterEach(async () => {
    await cluster.stop();
    assert.deepEqual(cluster.problems, []);
  });

  const migrate = (name: string, resource: string, group = "") =>
    cluster.create("storageversionmigrations", name, { content: { spec: { resource: { resource, group } } } });
  const find = async (name: string) => (await cluster.find("storageversionmigrations", name, "")) as Migration;
  const conditions = async (name: string) =>
    ((await find(name)).status?.conditions ?? []).map(({ type, status, message }) => `${type} ${status}: ${message}`);
  const ends = async (name: string) => {
    await until(async () => (await conditions(name)).includes("Running False: Migration completed"));
    return conditions(name);
  };

  test("stores all objects in the current storage version", async () => {
    const { definition } = cluster.resource("clustertrustbundles");
    const key = cluster.resources.keys.key(definition, { namespace: "", name: "old" });
    const trustBundle = makeCa("one", clock.now()).certificate;
    await cluster.create("clustertrustbundles", "old", { content: { spec: { trustBundle } } });
    const text = async () => Buffer.from((await cluster.store.get(key))?.value ?? []).toString();
    const [current, { modRevision } = assert.fail()] = [await text(), await cluster.store.get(key)];
    assert.match(current, /certificates.k8s.io\/v1beta1/);
    await cluster.store.put(key, Buffer.from(current.replace("/v1beta1", "/v1")), modRevision);
    await migrate("one", "clustertrustbundles", "certificates.k8s.io");
    assert.deepEqual(await ends("one"), ["Running False: Migration completed", "Succeeded True: Migration completed"]);
    assert.equal(await text(), current);
    assert.match((await find("one")).status?.resourceVersion ?? "", /^\d+$/);
  });

  test("runs migrations of one resource one after another", async () => {
    for (const name of ["b", "a"]) await cluster.create("configmaps", name);
    await migrate("second", "configmaps");
    await migrate("first", "configmaps");
    await ends("first");
    await ends("second");
    const [first, second] = [await find("first"), await find("second")];
    assert.ok(Number(first.status?.resourceVersion) > 0 && Number(second.status?.resourceVersion) > 0);
  });

  test("fails for resources that cannot be written, or are not served for a minute", async () => {
    await migrate("review", "subjectaccessreviews", "authorization.k8s.io");
    const [, failure] = await ends("review");
    assert.equal(
      failure,
      'Failed True: resource "authorization.k8s.io/v1, Resource=subjectaccessreviews" does not support discovery operations: [update patch list]',
    );
    await migrate("missing", "things", "example.com");
    await until(async () => (await conditions("missing")).length === 1);
    await clock.advance(30_000);
    assert.deepEqual(await conditions("missing"), ["Running True: The migration is running"]);
    await clock.advance(100_000);
    const [, missing] = await ends("missing");
    assert.equal(missing, "Failed True: resource does not exist in discovery");
  });

  test("fails if an object is rejected", async () => {
    for (const name of ["a", "b", "c"]) await cluster.create("configmaps", name);
    denied = ["b"];
    await migrate("one", "configmaps");
    const [, failure = ""] = await ends("one");
    assert.match(failure, /^Failed True: 2\/3 not yet migrated\. migration encountered unhandled error: .*not now$/);
  });
});
