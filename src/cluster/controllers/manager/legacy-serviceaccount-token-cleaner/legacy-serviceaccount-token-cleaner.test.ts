import assert from "node:assert/strict";
import { afterEach, beforeEach, suite, test } from "node:test";
import type { KubeObject } from "../../../../base/api/object.ts";
import { ManualClock } from "../../../../base/util/environment.suite.ts";
import { MemoryStore } from "../../../../storage/memory.ts";
import { TestCluster, until } from "../../shared/controllers.suite.ts";
import { legacyTokenCleaner } from "./legacy-serviceaccount-token-cleaner.ts";

const DAY_MS = 86_400_000;
const YEAR_MS = 365 * DAY_MS;
const LAST_USED = "kubernetes.io/legacy-token-last-used";
const INVALID_SINCE = "kubernetes.io/legacy-token-invalid-since";

suite("legacy-serviceaccount-token-cleaner-controller", () => {
  let cluster: TestCluster;
  let clock: ManualClock;

  beforeEach(async () => {
    clock = new ManualClock(Date.UTC(2024, 0, 1, 12));
    cluster = new TestCluster(new MemoryStore(), { clock });
    await cluster.create("configmaps", "kube-apiserver-legacy-service-account-token-tracking", {
      namespace: "kube-system",
      content: { data: { since: "2024-01-01" } },
    });
    const generated = ["unused", "used", "mounted", "odd"];
    const secrets = generated.map((name) => ({ name }));
    await cluster.create("serviceaccounts", "robot", { content: { secrets } });
    for (const name of [...generated, "own"]) await create(name);
    await label("used", LAST_USED, "2024-12-01");
    await label("odd", LAST_USED, "yesterday");
    const { definition } = cluster.resource("pods");
    const spec = { containers: [{ name: "main", image: "image" }], imagePullSecrets: [{ name: "mounted" }] };
    const user: KubeObject = {
      kind: definition.kind,
      apiVersion: "v1",
      metadata: { name: "user", namespace: "default" },
      spec,
    };
    await cluster.client.create(cluster.resource("pods"), user);
  });
  afterEach(async () => {
    await cluster.stop();
    assert.deepEqual(cluster.problems, []);
  });

  const create = (name: string) =>
    cluster.create("secrets", name, {
      content: { type: "kubernetes.io/service-account-token", metadata: named(name) },
    });
  const named = (name: string): KubeObject["metadata"] => {
    return { name, namespace: "default", annotations: { "kubernetes.io/service-account.name": "robot" } };
  };
  const label = (name: string, key: string, value: string) =>
    cluster.change("secrets", name, ({ metadata }) => {
      metadata.labels = { ...metadata.labels, [key]: value };
    });
  const find = (name: string) => cluster.find("secrets", name);
  const invalid = async () => {
    const all = await cluster.list("secrets");
    return all.filter(({ metadata }) => metadata.labels?.[INVALID_SINCE] !== undefined).map((one) => one.metadata.name);
  };
  const days = async (count: number) => {
    for (let day = 0; day < count; day += 1) await clock.advance(DAY_MS);
  };

  test("marks tokens that were not used for a year, and deletes them a year later", async () => {
    await clock.advance(YEAR_MS);
    cluster.start(legacyTokenCleaner(cluster));
    await clock.advance(1);
    assert.deepEqual(await invalid(), []);
    await days(2);
    await until(async () => (await invalid()).length > 0);
    assert.deepEqual(await invalid(), ["unused"]);
    assert.equal((await find("unused"))?.metadata.labels?.[INVALID_SINCE], "2025-01-01");
    await days(364);
    assert.deepEqual(await invalid(), ["unused", "used"]);
    await days(3);
    await until(async () => (await find("unused")) === undefined);
    for (const name of ["used", "mounted", "odd", "own"]) assert.ok(await find(name), name);
  });

  test("marks nothing while kube-apiserver does not record uses", async () => {
    await cluster.delete("configmaps", "kube-apiserver-legacy-service-account-token-tracking", {}, "kube-system");
    await clock.advance(YEAR_MS + 2 * DAY_MS);
    cluster.start(legacyTokenCleaner(cluster));
    await days(2);
    assert.deepEqual(await invalid(), []);
  });

  test("marks a token again whose mark is not a date", async () => {
    await label("unused", INVALID_SINCE, "x");
    await clock.advance(YEAR_MS + 2 * DAY_MS);
    cluster.start(legacyTokenCleaner(cluster));
    await until(async () => (await find("unused"))?.metadata.labels?.[INVALID_SINCE] === "2025-01-02");
  });
});
