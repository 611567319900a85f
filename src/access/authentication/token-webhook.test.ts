import assert from "node:assert/strict";
import { test } from "node:test";
import { drivenEnvironment } from "../../base/util/environment.suite.ts";
import { AuthenticationError } from "./authenticator.ts";
import type { WebhookAnswer } from "./review-webhook.ts";
import { TokenWebhook } from "./token-webhook.ts";

const answer = (status: number, body: unknown = {}, headers: Record<string, string> = {}): WebhookAnswer => ({
  status,
  headers,
  body: Buffer.from(typeof body === "string" ? body : JSON.stringify(body)),
});
const review = (status: object, version = "v1"): object => ({
  kind: "TokenReview",
  apiVersion: `authentication.k8s.io/${version}`,
  status,
});
const alice = { username: "alice", uid: "1", groups: ["dev"], extra: { "example.com/x": ["y"] } };

function webhook(answers: (WebhookAnswer | Error)[], version = "v1") {
  const { clock, random } = drivenEnvironment();
  const reviews: string[] = [];
  const post = async (text: string): Promise<WebhookAnswer> => {
    reviews.push(text);
    const next = answers.length > 1 ? answers.shift() : answers[0];
    if (next === undefined || next instanceof Error) throw next;
    return next;
  };
  const authenticator = new TokenWebhook({ post, version, audiences: ["own"], clock, random });
  const ask = (audiences?: readonly string[]) =>
    authenticator.authenticate({ bearerToken: "t", headers: {}, ...(audiences ? { audiences } : {}) });
  return { ask, reviews, clock };
}

test("sends a TokenReview and returns its user, in both versions", async () => {
  for (const version of ["v1", "v1beta1"]) {
    const { ask, reviews } = webhook([answer(201, review({ authenticated: true, user: alice }, version))], version);
    const { username: name, ...rest } = alice;
    assert.deepEqual(await ask(["own", "x"]), { user: { name, ...rest }, audiences: ["own"] });
    assert.deepEqual(JSON.parse(reviews[0] ?? ""), {
      kind: "TokenReview",
      apiVersion: `authentication.k8s.io/${version}`,
      metadata: {},
      spec: { token: "t", audiences: ["own", "x"] },
      status: { user: {} },
    });
  }
  assert.throws(
    () => webhook([], "v2"),
    /unsupported authentication webhook version "v2", supported versions are "v1", "v1beta1"/,
  );
});

test("returns undefined for an unauthenticated token, or throws the error of the response", async () => {
  assert.equal(await webhook([answer(200, review({}))]).ask(), undefined);
  assert.equal(await webhook([answer(200, review({ authenticated: "true", user: alice }))]).ask(), undefined);
  await assert.rejects(webhook([answer(200, review({ error: "no" }))]).ask(["own"]), { message: "no" });
});

test("returns undefined for a token of another audience", async () => {
  const good = (audiences?: string[]) =>
    webhook([answer(200, review({ authenticated: true, user: alice, audiences }))]);
  assert.equal(await good().ask(["x"]), undefined);
  assert.equal(await good(["y"]).ask(["own"]), undefined);
  assert.deepEqual((await good(["x", "y"]).ask(["y", "z"]))?.audiences, ["y"]);
});

test("tries transient failures five times, and others once", async () => {
  const reset = Object.assign(new Error("reset"), { code: "ECONNRESET" });
  for (const passing of [answer(500), answer(504), answer(429), answer(503, {}, { "retry-after": "1" }), reset]) {
    const { ask, reviews, clock } = webhook([passing]);
    const refused = assert.rejects(ask(), AuthenticationError);
    await clock.advance(5000);
    await refused;
    assert.equal(reviews.length, 5);
  }
  const recovering = webhook([answer(500), answer(200, review({ authenticated: true, user: alice }))]);
  const found = recovering.ask();
  await recovering.clock.advance(600);
  assert.equal((await found)?.user.name, "alice");
  for (const final of [answer(503), answer(404), answer(302), new Error("refused")]) {
    const { ask, reviews } = webhook([final]);
    await assert.rejects(ask(), AuthenticationError);
    assert.equal(reviews.length, 1);
  }
});

test("rejects responses that would hold up the event loop", async () => {
  const costly = ["[".repeat(500_000), `{"a":[${"{},".repeat(200_000)}0]}`, `{"a":[${"1.5e-7,".repeat(100_000)}0]}`];
  for (const text of costly) {
    await assert.rejects(webhook([answer(200, text)]).ask(), /did not answer with a v1 TokenReview/);
  }
});

test("rejects responses that are not a TokenReview", async () => {
  for (const body of [
    "",
    "nothing",
    "[]",
    { status: { authenticated: true, user: alice } },
    review({ authenticated: true, user: alice }, "v1beta1"),
    review({ authenticated: true, user: { ...alice, groups: "system:masters" } }),
    review({ authenticated: true, user: { ...alice, username: 1 } }),
    review({ authenticated: true, user: { ...alice, extra: { a: [1] } } }),
  ]) {
    await assert.rejects(webhook([answer(200, body)]).ask(), (error) => {
      assert.ok(error instanceof AuthenticationError && !error.isExpected);
      return true;
    });
  }
});
