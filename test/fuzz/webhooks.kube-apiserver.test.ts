import assert from "node:assert/strict";
import { suite, test } from "node:test";
import { needs } from "../support/tools.ts";
import { fuzzWebhooks, printWebhookFindings, WebhookTwins } from "./webhooks.ts";

suite("admission webhooks beside kube-apiserver", { ...needs("kube-apiserver", "etcd") }, () => {
  test("webhooks are sent the same reviews, and clients the same answers", async (t) => {
    const twins = await WebhookTwins.start();
    t.after(() => twins.stop());
    // One seed, so that a run is as good as the one before; `npm run fuzz webhooks` takes another each time.
    const findings = await fuzzWebhooks(twins, Number(process.env.FUZZ_SEED ?? 2), 24, 14);
    t.diagnostic(printWebhookFindings(findings));
    assert.ok(findings.reviews > 20, "webhooks were called");
    assert.equal(findings.found.length, 0, printWebhookFindings(findings));
  });
});
