import assert from "node:assert/strict";
import { afterEach, beforeEach, suite, test } from "node:test";
import type { JsonObject } from "../../../../base/api/object.ts";
import type { Pod } from "../../../../kinds/types/workloads.ts";
import { until } from "../../shared/controllers.suite.ts";
import { JobCluster, jobSpec } from "./job.suite.ts";
import { jobs } from "./job.ts";

const condition = (type: string, time: string, reason: string, message: string, status = "True") => ({
  ...{ type, status, lastProbeTime: time, lastTransitionTime: time },
  ...{ reason, message },
});
const nameOf = ({ metadata }: Pod) => metadata.name ?? "";

suite("job-controller", () => {
  let cluster: JobCluster;

  beforeEach(() => {
    cluster = new JobCluster();
    cluster.start(jobs(cluster));
  });
  afterEach(() => cluster.end());

  const post = (more: JsonObject, pod?: JsonObject) => cluster.post("jobs", "pi", jobSpec(more, pod));
  const spec = (change: JsonObject) => cluster.patch("jobs", "pi", { spec: change });

  test("runs Pods until enough have succeeded", async () => {
    const { uid = "" } = (await post({ completions: 2, parallelism: 1 })).metadata;
    const [first] = await cluster.hasActive(1);
    assert.ok(first);
    assert.match(nameOf(first), /^pi-[a-z0-9]{5}$/);
    assert.deepEqual(first.metadata.finalizers, ["batch.kubernetes.io/job-tracking"]);
    const owner = { apiVersion: "batch/v1", kind: "Job", name: "pi", uid };
    assert.deepEqual(first.metadata.ownerReferences, [{ ...owner, controller: true, blockOwnerDeletion: true }]);
    await until(async () => (await cluster.status()).active === 1);
    const started = { active: 1, ready: 0, terminating: 0, uncountedTerminatedPods: {} };
    assert.deepEqual(await cluster.status(), { ...started, startTime: "2026-01-01T00:00:00Z" });
    await cluster.succeed(first);
    const [second] = await cluster.hasActive(1);
    assert.ok(second);
    await cluster.succeed(second);
    const status = await cluster.has("Complete");
    const time = status.completionTime ?? "";
    const [reason, message] = ["CompletionsReached", "Reached expected number of succeeded pods"];
    assert.deepEqual(status, {
      conditions: [
        condition("SuccessCriteriaMet", time, reason, message),
        condition("Complete", time, reason, message),
      ],
      startTime: "2026-01-01T00:00:00Z",
      completionTime: time,
      ...{ succeeded: 2, ready: 0, terminating: 0, uncountedTerminatedPods: {} },
    });
    await cluster.hasNews("Normal Completed: Job completed");
    assert.deepEqual(await cluster.news(), [
      `Normal SuccessfulCreate: Created pod: ${nameOf(first)}`,
      `Normal SuccessfulCreate: Created pod: ${nameOf(second)}`,
      "Normal Completed: Job completed",
    ]);
    for (const { metadata } of await cluster.pods()) assert.equal(metadata.finalizers, undefined);
  });

  test("completes a work queue when one Pod has succeeded and the others have ended", async () => {
    await post({ parallelism: 3 });
    const [first, second, third] = await cluster.hasActive(3);
    assert.ok(first && second && third);
    await cluster.succeed(first);
    await cluster.endPod(second);
    await cluster.pass(async () => (await cluster.status()).failed === 1);
    assert.equal((await cluster.activePods()).length, 1);
    await cluster.succeed(third);
    const { succeeded, failed } = await cluster.has("Complete");
    assert.deepEqual({ succeeded, failed }, { succeeded: 2, failed: 1 });
  });

  test("replaces failed Pods after a delay that doubles, then fails at the backoff limit", async () => {
    await post({ backoffLimit: 2 });
    for (const delay of [10, 20]) {
      const [pod] = await cluster.hasActive(1);
      assert.ok(pod);
      await cluster.endPod(pod);
      await cluster.wait(delay - 1);
      assert.deepEqual(await cluster.activePods(), []);
      await cluster.wait(3);
      assert.equal((await cluster.activePods()).length, 1);
    }
    const [last] = await cluster.activePods();
    assert.ok(last);
    await cluster.endPod(last);
    const { conditions = [], ...status } = await cluster.has("Failed");
    const [reason, message] = ["BackoffLimitExceeded", "Job has reached the specified backoff limit"];
    const time = conditions[0]?.lastTransitionTime ?? "";
    assert.deepEqual(conditions, [
      condition("FailureTarget", time, reason, message),
      condition("Failed", time, reason, message),
    ]);
    const { startTime } = status;
    assert.deepEqual(status, { startTime, failed: 3, ready: 0, terminating: 0, uncountedTerminatedPods: {} });
    await cluster.hasNews(`Warning ${reason}: ${message}`);
  });

  test("a success resets the delay after failures", async () => {
    await post({ completions: 2, backoffLimit: 6 });
    const [first] = await cluster.hasActive(1);
    assert.ok(first);
    await cluster.endPod(first);
    const [second] = await cluster.hasActive(1);
    assert.ok(second);
    await cluster.succeed(second);
    await cluster.wait(2);
    assert.equal((await cluster.activePods()).length, 1);
  });

  test("counts restarts of containers with the restartPolicy OnFailure", async () => {
    await post({ backoffLimit: 3 }, { restartPolicy: "OnFailure" });
    const [pod] = await cluster.hasActive(1);
    assert.ok(pod);
    const container = { name: "main", image: "busybox", imageID: "", ready: false, restartCount: 3, state: {} };
    const key = { namespace: "default", name: nameOf(pod) };
    const status = { phase: "Running", containerStatuses: [container] };
    const options = { isStrategic: true, subresource: "status" };
    await cluster.client.patch(cluster.resource("pods"), key, { status }, options);
    const { failed } = await cluster.has("Failed");
    assert.equal(failed, 1);
    await cluster.hasNews("Warning BackoffLimitExceeded: Job has reached the specified backoff limit");
    assert.deepEqual(await cluster.pods(), []);
  });

  test("deletes the Pods of a Job after activeDeadlineSeconds", async () => {
    await post({ parallelism: 2, completions: 2, activeDeadlineSeconds: 30 });
    const pods = await cluster.hasActive(2);
    await cluster.wait(29);
    assert.deepEqual(await cluster.conditions(), []);
    const { failed, conditions = [] } = await cluster.has("Failed");
    assert.equal(failed, 2);
    assert.equal(conditions[0]?.lastTransitionTime, "2026-01-01T00:00:30Z");
    await cluster.hasNews("Warning DeadlineExceeded: Job was active longer than specified deadline");
    const news = await cluster.news();
    for (const pod of pods) assert.ok(news.includes(`Normal SuccessfulDelete: Deleted pod: ${nameOf(pod)}`));
    assert.deepEqual(await cluster.pods(), []);
  });

  test("suspends and resumes a Job with a new startTime", async () => {
    await post({ parallelism: 2, completions: 2, activeDeadlineSeconds: 60 });
    await cluster.hasActive(2);
    await spec({ suspend: true });
    await cluster.has("Suspended");
    const { conditions = [], ...status } = await cluster.status();
    const time = conditions[0]?.lastTransitionTime ?? "";
    assert.deepEqual(conditions, [condition("Suspended", time, "JobSuspended", "Job suspended")]);
    assert.equal(status.startTime, undefined);
    assert.equal(status.active, undefined);
    await cluster.pass(async () => (await cluster.status()).terminating === 0);
    assert.deepEqual(await cluster.pods(), []);
    await cluster.wait(100);
    await spec({ suspend: false });
    await cluster.hasActive(2);
    await cluster.pass(async () => (await cluster.conditions()).length === 0);
    const resumed = await cluster.status();
    const { startTime = "" } = resumed;
    assert.ok(Date.parse(startTime) >= Date.parse("2026-01-01T00:01:40Z"));
    assert.deepEqual(resumed.conditions, [condition("Suspended", startTime, "JobResumed", "Job resumed", "False")]);
    const news = (await cluster.news()).filter((line) => /suspended|resumed/.test(line));
    assert.deepEqual(news, ["Normal Suspended: Job suspended", "Normal Resumed: Job resumed"]);
    assert.equal(resumed.failed, undefined);
  });

  test("starts a Job that is created suspended when it is resumed", async () => {
    await post({ suspend: true });
    const { startTime } = await cluster.has("Suspended");
    assert.equal(startTime, undefined);
    assert.deepEqual(await cluster.pods(), []);
    await spec({ suspend: false });
    await cluster.hasActive(1);
  });

  test("deletes the Pods with the least progress if parallelism decreases", async () => {
    await post({ parallelism: 3, completions: 5 });
    const [running] = await cluster.hasActive(3);
    assert.ok(running);
    await cluster.setPod(nameOf(running), "Running");
    await cluster.pass(async () => (await cluster.status()).ready === 1);
    await spec({ parallelism: 1 });
    await cluster.pass(async () => (await cluster.status()).active === 1);
    assert.deepEqual((await cluster.pods()).map(nameOf), [nameOf(running)]);
    assert.equal((await cluster.status()).failed, undefined);
  });

  test("waits with podReplacementPolicy Failed until a deleted Pod has failed", async () => {
    await post({ podReplacementPolicy: "Failed" });
    const [pod] = await cluster.hasActive(1);
    assert.ok(pod);
    await cluster.delete("pods", nameOf(pod));
    await cluster.pass(async () => (await cluster.status()).terminating === 1);
    await cluster.wait(60);
    assert.equal((await cluster.pods()).length, 1);
    assert.equal((await cluster.status()).active, undefined);
    await cluster.endPod(pod);
    await cluster.hasActive(1);
    const { terminating, failed } = await cluster.status();
    assert.deepEqual({ terminating, failed }, { terminating: 0, failed: 1 });
  });

  test("counts a deleted Pod as failed and replaces it", async () => {
    await post({});
    const [pod] = await cluster.hasActive(1);
    assert.ok(pod);
    await cluster.delete("pods", nameOf(pod));
    await cluster.pass(async () => (await cluster.status()).failed === 1);
    const [next] = await cluster.hasActive(1);
    assert.notEqual(next?.metadata.uid, pod.metadata.uid);
  });

  test("leaves Jobs of other controllers alone", async () => {
    await cluster.post("jobs", "other", jobSpec({ managedBy: "example.com/queue" }));
    await post({ managedBy: "kubernetes.io/job-controller" });
    await cluster.hasActive(1);
    assert.deepEqual((await cluster.job("other"))?.status, {});
  });

  test("adopts Pods with the finalizer, and releases them without it", async () => {
    const labels = { app: "own" };
    const template = { metadata: { labels }, spec: jobSpec().template };
    const [{ spec: podSpec }] = [jobSpec().template as { spec: JsonObject }];
    await cluster.post("pods", "orphan", podSpec, { labels });
    await post({ selector: { matchLabels: labels }, manualSelector: true, template: { ...template, spec: podSpec } });
    await cluster.pass(async () => (await cluster.status()).active === 1);
    const orphan = async () => (await cluster.find("pods", "orphan"))?.metadata;
    assert.equal((await orphan())?.ownerReferences?.[0]?.name, "pi");
    assert.deepEqual((await orphan())?.finalizers, ["batch.kubernetes.io/job-tracking"]);
    await cluster.patch("pods", "orphan", { metadata: { labels: { app: "other" } } });
    await cluster.pass(async () => (await orphan())?.ownerReferences === undefined);
    assert.equal((await orphan())?.finalizers, undefined);
    await cluster.hasActive(2);
  });

  test("removes the finalizer of Pods whose Job is gone", async () => {
    await post({});
    const [pod] = await cluster.hasActive(1);
    assert.ok(pod);
    await cluster.delete("jobs", "pi", { propagationPolicy: "Background" });
    await until(async () => (await cluster.find("pods", nameOf(pod)))?.metadata.finalizers === undefined);
  });

  test("counts the Pods of a Job that is deleted in the foreground, and creates no more", async () => {
    await post({ parallelism: 1, completions: 3 });
    const [pod] = await cluster.hasActive(1);
    assert.ok(pod);
    await cluster.delete("jobs", "pi", { propagationPolicy: "Foreground" });
    await cluster.succeed(pod);
    await cluster.pass(async () => (await cluster.find("pods", nameOf(pod)))?.metadata.finalizers === undefined);
    await cluster.wait(3);
    assert.equal((await cluster.pods()).length, 1);
  });

  test("warns about more succeeded Pods than completions", async () => {
    await post({ parallelism: 2, completions: 2, suspend: true });
    await cluster.has("Suspended");
    await spec({ suspend: false });
    const [first, second] = await cluster.hasActive(2);
    assert.ok(first && second);
    const { labels = {}, ownerReferences, finalizers } = first.metadata;
    const [{ spec: podSpec }] = [jobSpec().template as { spec: JsonObject }];
    await cluster.post("pods", "third", podSpec, {
      labels,
      ownerReferences: ownerReferences ?? [],
      finalizers: finalizers ?? [],
    });
    const third = { ...first, metadata: { ...first.metadata, name: "third" } };
    for (const pod of [first, second, third]) await cluster.succeed(pod);
    await cluster.has("Complete");
    await cluster.hasNews("Normal Completed: Job completed");
    const warning = "Warning TooManySucceededPods: Too many succeeded pods running after completion count reached";
    assert.ok((await cluster.news()).includes(warning));
  });
});
