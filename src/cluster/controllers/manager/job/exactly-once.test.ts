import assert from "node:assert/strict";
import { suite, test } from "node:test";
import { ManualClock } from "../../../../base/util/environment.suite.ts";
import { JitteryStore } from "../../shared/controllers.suite.ts";
import { JobCluster, jobSpec } from "./job.suite.ts";
import { jobs } from "./job.ts";

const COMPLETIONS = 12;

suite("job-controller counts each Pod exactly once on a slow store", () => {
  for (const [seed, completionMode] of ["NonIndexed", "Indexed", "NonIndexed", "Indexed"].entries()) {
    test(`${completionMode}, seed ${seed}`, async () => {
      const cluster = new JobCluster(new ManualClock(), new JitteryStore(seed));
      cluster.start(jobs(cluster));
      const spec = { completionMode, completions: COMPLETIONS, parallelism: 4, backoffLimit: 50 };
      await cluster.post("jobs", "pi", jobSpec(spec));
      const ended = new Set<string>();
      let failures = 0;
      await cluster.pass(async () => {
        for (const pod of await cluster.activePods()) {
          const { uid = "" } = pod.metadata;
          if (ended.has(uid)) continue;
          ended.add(uid);
          const fails = ended.size % 5 === 0;
          if (fails) failures += 1;
          await cluster.endPod(pod, { phase: fails ? "Failed" : "Succeeded" });
        }
        return (await cluster.conditions()).includes("Complete");
      });
      const { succeeded, failed, uncountedTerminatedPods, completedIndexes } = await cluster.status();
      assert.deepEqual({ succeeded, failed }, { succeeded: COMPLETIONS, failed: failures });
      assert.deepEqual(uncountedTerminatedPods, {});
      assert.equal(completedIndexes, completionMode === "Indexed" ? `0-${COMPLETIONS - 1}` : undefined);
      for (const { metadata } of await cluster.pods()) assert.equal(metadata.finalizers, undefined);
      await cluster.end();
    });
  }
});
