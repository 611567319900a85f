import assert from "node:assert/strict";
import { afterEach, beforeEach, suite, test } from "node:test";
import { until } from "../../shared/controllers.suite.ts";
import { GarbageCollection } from "../garbage-collector/garbage-collection.ts";
import { JobCluster, jobSpec } from "../job/job.suite.ts";
import { jobs } from "../job/job.ts";
import { ttlAfterFinished } from "./ttl-after-finished.ts";

suite("ttl-after-finished-controller", () => {
  let cluster: JobCluster;

  beforeEach(() => {
    cluster = new JobCluster();
    cluster.start(jobs(cluster), ttlAfterFinished(cluster), new GarbageCollection(cluster));
  });
  afterEach(() => cluster.end());

  const complete = async (ttlSecondsAfterFinished?: number) => {
    const ttl = ttlSecondsAfterFinished === undefined ? {} : { ttlSecondsAfterFinished };
    await cluster.post("jobs", "pi", jobSpec(ttl));
    const [pod] = await cluster.hasActive(1);
    assert.ok(pod);
    await cluster.succeed(pod);
    const { completionTime = "" } = await cluster.has("Complete");
    return Date.parse(completionTime);
  };
  const isDeleted = async () => (await cluster.job())?.metadata.deletionTimestamp !== undefined;

  test("deletes a finished Job and its Pods after its TTL", async () => {
    const endMs = await complete(60);
    await cluster.clock.advance(endMs + 59_000 - cluster.clock.now());
    assert.ok((await cluster.job()) && !(await isDeleted()));
    await cluster.clock.advance(1000);
    await until(async () => (await cluster.job()) === undefined);
    await until(async () => (await cluster.pods()).length === 0);
  });

  test("deletes a Job at once if its TTL is 0", async () => {
    await complete(3600);
    await cluster.patch("jobs", "pi", { spec: { ttlSecondsAfterFinished: 0 } });
    await until(async () => (await cluster.job()) === undefined);
  });

  test("waits longer if the TTL is increased", async () => {
    await complete(60);
    await cluster.patch("jobs", "pi", { spec: { ttlSecondsAfterFinished: 600 } });
    await cluster.wait(120);
    assert.ok((await cluster.job()) && !(await isDeleted()));
    await cluster.clock.advance(600_000);
    await until(async () => (await cluster.job()) === undefined);
  });

  test("keeps Jobs without a TTL", async () => {
    await complete();
    await cluster.clock.advance(1_000_000);
    assert.ok((await cluster.job()) && !(await isDeleted()));
  });
});
