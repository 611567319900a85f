import assert from "node:assert/strict";
import { test } from "node:test";
import type { WebhookRequest } from "../../access/webhooks/webhook-client.ts";
import { INLINE_LIMITS } from "../../base/api/body-limits.ts";
import type { Json } from "../../base/api/object.ts";
import { conversionCall, MAX_CALLS, MAX_WAITING } from "./conversion-call.ts";

/** A client whose calls of the webhook `stuck` end only when told. */
function setUp() {
  let nowMs = 0;
  const posted: WebhookRequest[] = [];
  const open: PromiseWithResolvers<Json>[] = [];
  const post = async (request: WebhookRequest): Promise<Json> => {
    posted.push(request);
    if (request.config.url !== "https://stuck") return "converted";
    const pending = Promise.withResolvers<Json>();
    open.push(pending);
    return pending.promise;
  };
  const call = conversionCall({ post }, { monotonic: () => nowMs });
  const ask = (url: string) => call({ url }, "{}", INLINE_LIMITS);
  const pass = (ms: number) => {
    nowMs += ms;
  };
  return { ask, posted, open, pass };
}

const turn = () => new Promise((resolve) => setImmediate(resolve));

test("a conversion webhook that hangs or calls itself holds up no other", async () => {
  const { ask, posted, open } = setUp();
  const stuck = Array.from({ length: MAX_CALLS + 10 }, () => ask("https://stuck"));
  assert.equal(await ask("https://other"), "converted");
  assert.equal(posted.length, MAX_CALLS + 1);
  for (let ended = 0; ended < stuck.length; ended++) {
    open[ended]?.resolve("late");
    assert.equal(await stuck[ended], "late");
    await turn();
    const under = open.length - ended - 1;
    assert.ok(under <= MAX_CALLS, `${under} calls at the same time`);
  }
});

test("calls that have waited too long are not made, and no more than a few hundred wait", async () => {
  const { ask, posted, open, pass } = setUp();
  const first = Array.from({ length: MAX_CALLS }, () => ask("https://stuck"));
  const waiting = Array.from({ length: MAX_WAITING }, () => ask("https://stuck"));
  const late = Promise.allSettled(waiting);
  await assert.rejects(ask("https://stuck"), /too many requests wait for the webhook/);
  pass(31_000);
  for (const one of open) one.reject(new Error("context deadline exceeded"));
  await Promise.allSettled(first);
  const reasons = (await late).map((one) => one.status === "rejected" && one.reason.message);
  assert.deepEqual(new Set(reasons), new Set(["context deadline exceeded"]));
  assert.equal(posted.length, MAX_CALLS, "calls of one webhook do not wait for those of another");
});
