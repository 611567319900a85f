import assert from "node:assert/strict";
import { test } from "node:test";
import { nonResourceAttributes } from "../../base/api/attributes.ts";
import { alwaysAllow } from "../authorization/always.ts";
import { audienceAgnostic } from "./audiences.ts";
import { bearerToken } from "./bearer-token.ts";
import { reviewIdentities } from "./reviews.ts";
import { TokenAuthenticator } from "./token-file.ts";

const alice = { name: "alice", groups: ["dev"] };
const own = ["own"];
const known = audienceAgnostic(own, new TokenAuthenticator([{ token: "secret", user: alice }]));
const identities = reviewIdentities(bearerToken(known), own, alwaysAllow);

test("accepts a token for the server's own audiences", async () => {
  assert.deepEqual(await identities.authenticateToken("secret", []), { user: alice, audiences: ["own"] });
  assert.deepEqual(await identities.authenticateToken("secret", ["x", "own"]), { user: alice, audiences: ["own"] });
  const refused = { audiences: [], error: "invalid bearer token" };
  assert.deepEqual(await identities.authenticateToken("secret", ["x"]), refused);
  assert.deepEqual(await identities.authenticateToken("other", []), refused);
});

test("with AlwaysAllow allows everything and lists all rights", async () => {
  assert.deepEqual(await identities.authorize(nonResourceAttributes(alice, "delete", "/")), { decision: "allow" });
  const { resourceRules, incomplete } = await identities.rulesFor(alice, "default");
  assert.deepEqual([resourceRules, incomplete], [[{ verbs: ["*"], apiGroups: ["*"], resources: ["*"] }], false]);
});

test("accepts a token only for the audiences that it names", async () => {
  const bound = { authenticate: async () => ({ user: alice, audiences: ["vault"] }) };
  const reviews = reviewIdentities(bound, own, alwaysAllow);
  assert.deepEqual(await reviews.authenticateToken("t", ["vault", "own"]), { user: alice, audiences: ["vault"] });
  assert.equal((await reviews.authenticateToken("t", [])).user, undefined);
});
