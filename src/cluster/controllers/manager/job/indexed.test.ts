import assert from "node:assert/strict";
import { afterEach, beforeEach, suite, test } from "node:test";
import type { JsonObject } from "../../../../base/api/object.ts";
import type { Pod } from "../../../../kinds/types/workloads.ts";
import { JobCluster, jobSpec } from "./job.suite.ts";
import { jobs } from "./job.ts";

const INDEX = "batch.kubernetes.io/job-completion-index";
const FAILURES = "batch.kubernetes.io/job-index-failure-count";
const IGNORED = "batch.kubernetes.io/job-index-ignored-failure-count";
const indexOf = ({ metadata }: Pod) => Number(metadata.annotations?.[INDEX]);

suite("job-controller with completionMode Indexed", () => {
  let cluster: JobCluster;

  beforeEach(() => {
    cluster = new JobCluster();
    cluster.start(jobs(cluster));
  });
  afterEach(() => cluster.end());

  const post = (more: JsonObject, name = "pi") =>
    cluster.post("jobs", name, jobSpec({ completionMode: "Indexed", ...more }));

  /** The active Pods by index. */
  const active = async (count: number) => {
    const pods = await cluster.hasActive(count);
    return pods.sort((one, other) => indexOf(one) - indexOf(other));
  };
  const at = async (index: number) => {
    await cluster.pass(async () => (await cluster.activePods()).some((pod) => indexOf(pod) === index));
    const pod = (await cluster.activePods()).find((one) => indexOf(one) === index);
    assert.ok(pod);
    return pod;
  };

  test("gives each Pod its index as name, hostname, annotation, label and variable", async () => {
    await post({ completions: 2, parallelism: 2 });
    const [first, second] = await active(2);
    assert.ok(first && second);
    assert.match(second.metadata.name ?? "", /^pi-1-[a-z0-9]{5}$/);
    assert.equal(second.spec?.hostname, "pi-1");
    assert.deepEqual(second.metadata.annotations, { [INDEX]: "1" });
    assert.equal(second.metadata.labels?.[INDEX], "1");
    const fieldRef = { apiVersion: "v1", fieldPath: `metadata.labels['${INDEX}']` };
    assert.deepEqual(second.spec?.containers?.[0]?.env, [{ name: "JOB_COMPLETION_INDEX", valueFrom: { fieldRef } }]);
    await cluster.succeed(second);
    await cluster.pass(async () => (await cluster.status()).completedIndexes === "1");
    await cluster.succeed(first);
    const { completedIndexes, succeeded, failedIndexes } = await cluster.has("Complete");
    assert.deepEqual({ completedIndexes, succeeded }, { completedIndexes: "0,1", succeeded: 2 });
    assert.equal(failedIndexes, undefined);
  });

  test("keeps the index of a long name", async () => {
    const name = `${"x".repeat(60)}`;
    await post({ completions: 1 }, name);
    const [pod] = await active(1);
    assert.equal(pod?.metadata.generateName, `${"x".repeat(55)}-0-`);
  });

  test("fills the lowest free indexes, and prints finished ones as intervals", async () => {
    await post({ completions: 6, parallelism: 4 });
    for (const index of [1, 2, 3]) await cluster.succeed(await at(index));
    await cluster.pass(async () => (await cluster.status()).completedIndexes === "1-3");
    assert.deepEqual((await active(3)).map(indexOf), [0, 4, 5]);
    await cluster.succeed(await at(5));
    await cluster.pass(async () => (await cluster.status()).completedIndexes === "1-3,5");
  });

  test("grows and shrinks with completions and parallelism together", async () => {
    await post({ completions: 2, parallelism: 2 });
    await cluster.succeed(await at(1));
    await cluster.pass(async () => (await cluster.status()).completedIndexes === "1");
    await cluster.patch("jobs", "pi", { spec: { completions: 4, parallelism: 4 } });
    assert.deepEqual((await active(3)).map(indexOf), [0, 2, 3]);
    await cluster.patch("jobs", "pi", { spec: { completions: 1, parallelism: 1 } });
    assert.deepEqual((await active(1)).map(indexOf), [0]);
    await cluster.pass(async () => (await cluster.status()).completedIndexes === undefined);
    await cluster.succeed(await at(0));
    const { succeeded, completedIndexes, failed } = await cluster.has("Complete");
    assert.deepEqual(
      { succeeded, completedIndexes, failed },
      { succeeded: 1, completedIndexes: "0", failed: undefined },
    );
  });

  test("retries each index on its own, and fails when all have ended", async () => {
    await post({ completions: 3, parallelism: 3, backoffLimitPerIndex: 1 });
    const [zero, one, two] = await active(3);
    assert.ok(zero && one && two);
    assert.equal(zero.metadata.annotations?.[FAILURES], "0");
    await cluster.endPod(one);
    await cluster.succeed(zero);
    await cluster.wait(8);
    assert.equal((await cluster.activePods()).length, 1);
    const again = await at(1);
    assert.equal(again.metadata.annotations?.[FAILURES], "1");
    await cluster.endPod(again);
    await cluster.pass(async () => (await cluster.status()).failedIndexes === "1");
    await cluster.succeed(two);
    const { conditions = [], failed, completedIndexes } = await cluster.has("Failed");
    assert.deepEqual({ failed, completedIndexes }, { failed: 2, completedIndexes: "0,2" });
    assert.equal(conditions[1]?.reason, "FailedIndexes");
    await cluster.hasNews("Warning FailedIndexes: Job has failed indexes");
  });

  test("ends when more indexes have failed than maxFailedIndexes", async () => {
    await post({ completions: 5, parallelism: 3, backoffLimitPerIndex: 0, maxFailedIndexes: 1 });
    for (const index of [0, 1]) await cluster.endPod(await at(index));
    const { failedIndexes, failed, active: running } = await cluster.has("Failed");
    assert.deepEqual({ failedIndexes, running }, { failedIndexes: "0,1", running: undefined });
    assert.ok((failed ?? 0) >= 3);
    const message = "Job has exceeded the specified maximal number of failed indexes";
    await cluster.hasNews(`Warning MaxFailedIndexesExceeded: ${message}`);
  });

  test("counts ignored failures of an index apart", async () => {
    const rules = [{ action: "Ignore", onPodConditions: [{ type: "DisruptionTarget", status: "True" }] }];
    await post({ completions: 1, backoffLimitPerIndex: 1, podFailurePolicy: { rules } });
    await cluster.endPod(await at(0), { conditions: [{ type: "DisruptionTarget", status: "True" }] });
    const { annotations = {} } = (await at(0)).metadata;
    assert.deepEqual([annotations[FAILURES], annotations[IGNORED]], ["0", "1"]);
    assert.equal((await cluster.status()).failed, undefined);
  });

  test("fails an index at once by the action FailIndex", async () => {
    const rules = [{ action: "FailIndex", onExitCodes: { operator: "In", values: [42] } }];
    await post({ completions: 2, parallelism: 2, backoffLimitPerIndex: 5, podFailurePolicy: { rules } });
    await cluster.endPod(await at(1), { exitCode: 42 });
    await cluster.pass(async () => (await cluster.status()).failedIndexes === "1");
    await cluster.succeed(await at(0));
    await cluster.has("Failed");
  });

  test("ends by the successPolicy and deletes the other Pods", async () => {
    const rules = [{ succeededIndexes: "0" }, { succeededIndexes: "1-2", succeededCount: 1 }];
    await post({ completions: 4, parallelism: 4, successPolicy: { rules } });
    await cluster.succeed(await at(3));
    await cluster.pass(async () => (await cluster.status()).completedIndexes === "3");
    await cluster.succeed(await at(2));
    const { conditions = [], completedIndexes, succeeded, failed } = await cluster.has("Complete");
    assert.deepEqual(
      conditions.map(({ type, reason, message }) => [type, reason, message]),
      ["SuccessCriteriaMet", "Complete"].map((type) => [type, "SuccessPolicy", "Matched rules at index 1"]),
    );
    assert.deepEqual(
      { completedIndexes, succeeded, failed },
      { completedIndexes: "2,3", succeeded: 2, failed: undefined },
    );
    assert.deepEqual((await cluster.pods()).map(indexOf).sort(), [2, 3]);
    await cluster.hasNews("Normal Completed: Job completed");
  });

  test("deletes all but one Pod of an index", async () => {
    await post({ completions: 2, parallelism: 1 });
    const first = await at(0);
    const { metadata } = first;
    const copy = { annotations: metadata.annotations ?? {}, labels: metadata.labels ?? {} };
    const owned = { ownerReferences: metadata.ownerReferences ?? [], finalizers: metadata.finalizers ?? [] };
    await cluster.setPod(metadata.name ?? "", "Running");
    const [{ spec }] = [jobSpec().template as { spec: JsonObject }];
    await cluster.post("pods", "copy", spec, { ...copy, ...owned });
    await cluster.pass(async () => (await cluster.find("pods", "copy")) === undefined);
    assert.deepEqual(
      (await active(1)).map((pod) => pod.metadata.uid),
      [metadata.uid],
    );
  });
});
