import assert from "node:assert/strict";
import { afterEach, beforeEach, suite, test } from "node:test";
import { JobCluster, jobSpec } from "./job.suite.ts";
import { jobs } from "./job.ts";

suite("job-controller with podFailurePolicy", () => {
  let cluster: JobCluster;

  beforeEach(() => {
    cluster = new JobCluster();
    cluster.start(jobs(cluster));
  });
  afterEach(() => cluster.end());

  const rules = [
    { action: "FailJob", onExitCodes: { containerName: "main", operator: "In", values: [42, 43] } },
    { action: "Ignore", onPodConditions: [{ type: "DisruptionTarget", status: "True" }] },
    { action: "FailJob", onPodConditions: [{ type: "ConfigIssue", status: "True" }] },
    { action: "Count", onExitCodes: { operator: "NotIn", values: [5] } },
  ];
  const only = async () => {
    const [pod] = await cluster.hasActive(1);
    assert.ok(pod);
    return pod;
  };
  const failure = async (message: string) => {
    const { conditions = [] } = await cluster.has("Failed");
    assert.deepEqual(
      conditions.map(({ type, reason, message: text }) => [type, reason, text]),
      ["FailureTarget", "Failed"].map((type) => [type, "PodFailurePolicy", message]),
    );
    await cluster.hasNews(`Warning PodFailurePolicy: ${message}`);
  };

  beforeEach(() => cluster.post("jobs", "pi", jobSpec({ podFailurePolicy: { rules }, backoffLimit: 1 })));

  test("fails the Job by an exit code", async () => {
    const pod = await only();
    await cluster.endPod(pod, { exitCode: 43 });
    const { name } = pod.metadata;
    await failure(`Container main for pod default/${name} failed with exit code 43 matching FailJob rule at index 0`);
    assert.equal((await cluster.status()).failed, 1);
  });

  test("fails the Job by a condition of a Pod", async () => {
    const pod = await only();
    await cluster.endPod(pod, { exitCode: 5, conditions: [{ type: "ConfigIssue", status: "True" }] });
    await failure(`Pod default/${pod.metadata.name} has condition ConfigIssue matching FailJob rule at index 2`);
  });

  test("replaces Pods whose failure is ignored without counting it", async () => {
    for (let round = 0; round < 3; round += 1) {
      await cluster.endPod(await only(), { conditions: [{ type: "DisruptionTarget", status: "True" }] });
      await cluster.pass(async () => (await cluster.activePods()).length === 0);
    }
    await only();
    assert.equal((await cluster.status()).failed, undefined);
  });

  test("counts other failures", async () => {
    for (let round = 0; round < 2; round += 1) await cluster.endPod(await only(), { exitCode: 7 });
    const { conditions = [], failed } = await cluster.has("Failed");
    assert.equal(failed, 2);
    assert.equal(conditions[1]?.reason, "BackoffLimitExceeded");
  });
});
