import assert from "node:assert/strict";
import { after, before, suite, test } from "node:test";
import { startKubectl } from "../support/kubectl.ts";
import { eventually } from "../support/time.ts";
import { needs } from "../support/tools.ts";
import { TutorialCluster } from "./cluster.ts";
import { readSteps } from "./steps.ts";

suite("the basics tutorial with binnacle up", { ...needs("kubectl") }, () => {
  let cluster: TutorialCluster;
  before(async () => {
    cluster = await TutorialCluster.start();
  });
  after(() => cluster?.stop());

  test("prints what a real cluster prints", async (t) => {
    for (const step of await readSteps("basics")) {
      t.diagnostic(`${Math.round(await cluster.check(step))} ms: ${step.command}`);
      if (step.command.startsWith("kubectl expose")) await checkForwarding();
    }
  });

  async function checkForwarding(): Promise<void> {
    const forwarding = await startKubectl(cluster.kubeconfig, ["port-forward", "service/kubernetes-bootcamp", ":8080"]);
    try {
      const printed = await eventually(() => /^Forwarding from (\S+) -> 8080$/m.exec(forwarding.output())?.[1]);
      const response = await fetch(`http://${printed}/`);
      assert.match(
        await response.text(),
        /^Hello Kubernetes bootcamp! \| Running on: kubernetes-bootcamp-\S+ \| v=1$/m,
      );
    } finally {
      await forwarding.kill();
    }
  }
});
