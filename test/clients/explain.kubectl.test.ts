import assert from "node:assert/strict";
import { test } from "node:test";
import { startBinnacle } from "../support/binnacle.ts";
import { kubectlFor } from "../support/kubectl.ts";
import { needs } from "../support/tools.ts";

test("kubectl explain says what kinds and fields are for", {
  ...needs("kubectl"),
}, async (context) => {
  const server = await startBinnacle();
  context.after(() => server.kill());
  const kubectl = kubectlFor(server.kubeconfig);
  const explain = async (field: string): Promise<string> => {
    const { code, stdout, stderr } = await kubectl(["explain", field]);
    assert.equal(code, 0, stderr);
    return stdout.replaceAll(/\s+/g, " ");
  };
  const containers = await explain("pod.spec.containers");
  assert.match(containers, /DESCRIPTION: The containers of the pod; at least one\./);
  assert.match(containers, /A program that runs in a pod\./);
  assert.match(containers, /image <string> Image to run/);
  assert.match(await explain("deployment"), /DESCRIPTION: Keeps a number of equal pods running/);
});
