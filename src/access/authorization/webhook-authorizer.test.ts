import assert from "node:assert/strict";
import { suite, test } from "node:test";
import { resourceAttributes } from "../../base/api/attributes.ts";
import type { JsonObject } from "../../base/api/object.ts";
import { ReviewFailure } from "../authentication/review-webhook.ts";
import { WebhookAuthorizer } from "./webhook-authorizer.ts";

// test/api/authorization-webhook.kube-apiserver.test.ts compares the requests with those of kube-apiserver.

function authorizerFor(answer: () => JsonObject, onFailure: "noOpinion" | "deny" = "noOpinion") {
  const asked: JsonObject[] = [];
  const failures: string[] = [];
  const clock = { now: 0, monotonic: () => clock.now };
  const webhook = {
    async ask(body: JsonObject) {
      asked.push(body);
      return answer();
    },
  };
  const authorizer = new WebhookAuthorizer({
    webhook,
    version: "v1",
    authorizedMs: 100,
    unauthorizedMs: 10,
    onFailure,
    clock,
    failed: ({ message }) => failures.push(message),
  });
  const decide = (name: string) =>
    authorizer.authorize(
      resourceAttributes({ name: "alice", groups: [] }, { verb: "get", apiGroup: "", resource: "pods", name }),
    );
  return { authorizer, asked, failures, clock, decide };
}

suite("WebhookAuthorizer", () => {
  test("caches allowed requests longer than others", async () => {
    let allowed = true;
    const { asked, clock, decide } = authorizerFor(() => ({ allowed }));
    await decide("a");
    clock.now = 99;
    assert.deepEqual(await decide("a"), { decision: "allow" });
    assert.equal(asked.length, 1);
    allowed = false;
    clock.now = 100;
    assert.deepEqual(await decide("a"), { decision: "noOpinion" });
    clock.now = 109;
    await decide("a");
    assert.equal(asked.length, 2);
    clock.now = 110;
    await decide("a");
    assert.equal(asked.length, 3);
  });

  test("caches at most 8,192 decisions, and none for long requests", async () => {
    const { authorizer, decide } = authorizerFor(() => ({ allowed: true }));
    await decide("x".repeat(10_000));
    assert.equal(authorizer.size, 0);
    for (let index = 0; index < 8_200; index++) await decide(`${index}`);
    assert.equal(authorizer.size, 8_192);
  });

  test("caches no failures, and applies the failure policy", async () => {
    for (const decision of ["noOpinion", "deny"] as const) {
      const { authorizer, decide, failures } = authorizerFor(() => {
        throw new ReviewFailure("down", true);
      }, decision);
      assert.deepEqual(await decide("a"), { decision, error: "down" });
      assert.deepEqual([authorizer.size, failures], [0, ["down"]]);
    }
  });

  test("denies with an error if a response both allows and denies", async () => {
    const { decide } = authorizerFor(() => ({ allowed: true, denied: true, reason: "r" }));
    const error = "webhook subject access review returned both allow and deny response";
    assert.deepEqual(await decide("a"), { decision: "deny", reason: "r", error });
  });
});
