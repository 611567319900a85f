import { after, before, suite, test } from "node:test";
import { needs, wants } from "../support/tools.ts";
import { TutorialCluster } from "./cluster.ts";
import { readSteps } from "./steps.ts";

suite("releases and Jobs with binnacle up", { ...needs("kubectl"), ...wants("helm") }, () => {
  let cluster: TutorialCluster;
  before(async () => {
    cluster = await TutorialCluster.start();
  });
  after(() => cluster?.stop());

  test("helm and kubectl wait for them, and print what they print with a real cluster", async (t) => {
    for (const step of await readSteps("releases")) {
      t.diagnostic(`${Math.round(await cluster.check(step))} ms: ${step.command}`);
    }
  });
});
