import assert from "node:assert/strict";
import { test } from "node:test";
import { reviewIdentities } from "./reviews.ts";
import { TokenAuthenticator } from "./token-file.ts";

const alice = { name: "alice", groups: ["dev"] };
const identities = reviewIdentities([new TokenAuthenticator([{ token: "secret", user: alice }])], ["own"]);

test("a token is good for the server's own audiences", async () => {
  assert.deepEqual(await identities.recognize("secret", []), { user: alice, audiences: ["own"] });
  assert.deepEqual(await identities.recognize("secret", ["x", "own"]), { user: alice, audiences: ["own"] });
  const refused = { audiences: [], error: "invalid bearer token" };
  assert.deepEqual(await identities.recognize("secret", ["x"]), refused);
  assert.deepEqual(await identities.recognize("other", []), refused);
});

test("without authorizers everybody may do everything, and is told so", async () => {
  assert.deepEqual(await identities.judge(alice, { verb: "delete", path: "/" }), { allowed: true });
  const { resourceRules, incomplete } = await identities.rulesOf(alice, "default");
  assert.deepEqual([resourceRules, incomplete], [[{ verbs: ["*"], apiGroups: ["*"], resources: ["*"] }], false]);
});
