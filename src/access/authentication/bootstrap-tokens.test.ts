import assert from "node:assert/strict";
import { test } from "node:test";
import type { JsonObject, KubeObject } from "../../base/api/object.ts";
import { BootstrapTokens } from "./bootstrap-tokens.ts";

const NOW = Date.UTC(2026, 0, 1);
const TOKEN = "abcdef.0123456789abcdef";

function secretOf(data: Record<string, string>, more: JsonObject = {}): KubeObject {
  const encode = (value: string): string => Buffer.from(value).toString("base64");
  const all = {
    "token-id": "abcdef",
    "token-secret": "0123456789abcdef",
    "usage-bootstrap-authentication": "true",
    ...data,
  };
  return {
    apiVersion: "v1",
    kind: "Secret",
    metadata: { name: "bootstrap-token-abcdef" },
    type: "bootstrap.kubernetes.io/token",
    data: Object.fromEntries(Object.entries(all).map(([key, value]) => [key, encode(value)])),
    ...more,
  };
}

async function ask(secret: KubeObject | undefined, bearerToken = TOKEN) {
  const asked: string[] = [];
  const find = async (name: string) => {
    asked.push(name);
    return secret && { secret, isCurrent: () => true };
  };
  const found = await new BootstrapTokens(find, { now: () => NOW }).authenticate({ bearerToken, headers: {} });
  return { user: found?.user, asked };
}

test("authenticates a bootstrap token with its id and groups", async () => {
  const { user, asked } = await ask(secretOf({ "auth-extra-groups": "system:bootstrappers:z,system:bootstrappers:a" }));
  const groups = ["system:bootstrappers", "system:bootstrappers:a", "system:bootstrappers:z"];
  assert.deepEqual(user, { name: "system:bootstrap:abcdef", groups });
  assert.deepEqual(asked, ["bootstrap-token-abcdef"]);
  assert.ok((await ask(secretOf({ expiration: "2026-01-01T01:00:01+01:00" }))).user);
});

test("has no opinion on a token whose Secret is invalid", async () => {
  for (const [why, secret] of Object.entries({
    missing: undefined,
    "another type": secretOf({}, { type: "Opaque" }),
    "being deleted": secretOf({}, { metadata: { deletionTimestamp: "2026-01-01T00:00:00Z" } }),
    "no data": secretOf({}, { data: null }),
    "another secret": secretOf({ "token-secret": "0123456789abcdeg" }),
    "a shorter secret": secretOf({ "token-secret": "" }),
    "another id": secretOf({ "token-id": "abcdeg" }),
    "for signing only": secretOf({ "usage-bootstrap-authentication": "True" }),
    expired: secretOf({ expiration: "2026-01-01T00:00:00Z" }),
    "expiring at no time": secretOf({ expiration: "tomorrow" }),
    "a group of others": secretOf({ "auth-extra-groups": "system:bootstrappers:a,system:masters" }),
    "a group with a line break": secretOf({ "auth-extra-groups": "system:bootstrappers:a\n" }),
  })) {
    assert.equal((await ask(secret)).user, undefined, why);
  }
});

test("looks up no Secret for other tokens", async () => {
  for (const token of ["", "abcdef", "ABCDEF.0123456789abcdef", `${TOKEN}\n`, `${TOKEN}x`, "../../.0123456789abcdef"]) {
    assert.deepEqual((await ask(secretOf({}), token)).asked, [], token);
  }
});
