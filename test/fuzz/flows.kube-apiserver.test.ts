import assert from "node:assert/strict";
import { suite, test } from "node:test";
import { needs } from "../support/tools.ts";
import { FlowTwins, fuzzFlows, printFlows } from "./flows.ts";

suite("flow schemas beside the real kube-apiserver", { ...needs("kube-apiserver", "etcd") }, () => {
  test("each request gets the same FlowSchema and priority level", async (t) => {
    const twins = await FlowTwins.start();
    t.after(() => twins.stop());
    const findings = await fuzzFlows(twins, Number(process.env.FUZZ_SEED ?? 1), 500);
    t.diagnostic(printFlows(findings));
    assert.ok(findings.schemas.size > 8, printFlows(findings));
    assert.deepEqual(findings.found, []);
  });
});
