import assert from "node:assert/strict";
import { test } from "node:test";
import type { ApiRequest } from "../api/call.ts";
import { parseTokenFile, TokenAuthenticator } from "./token-file.ts";

const FILE = 'secret,admin,admin-uid,"system:masters,ops"\n\n# a remark\nother, alice ,alice-uid\n';

function request(authorization?: string): ApiRequest {
  return {
    method: "GET",
    path: "/",
    query: new URLSearchParams(),
    headers: { authorization },
    authority: "localhost",
    readBody: async () => new Uint8Array(),
    signal: new AbortController().signal,
  };
}

test("a token file names users and their groups", () => {
  assert.deepEqual(
    parseTokenFile(FILE).map(({ user }) => user),
    [
      { name: "admin", uid: "admin-uid", groups: ["system:masters", "ops", "system:authenticated"] },
      { name: "alice", uid: "alice-uid", groups: ["system:authenticated"] },
    ],
  );
});

test("a line that cannot be read is named", () => {
  assert.throws(() => parseTokenFile("a,b,c\nonly-a-token\n"), /line 2/);
  assert.throws(() => parseTokenFile(",b,c"), /line 1/);
});

test("only a whole token is recognised", async () => {
  const authenticator = new TokenAuthenticator(parseTokenFile(FILE));
  const who = async (header?: string) => (await authenticator.authenticate(request(header)))?.name;
  assert.equal(await who("Bearer secret"), "admin");
  assert.equal(await who("bearer  other"), "alice");
  for (const header of [undefined, "Bearer", "Bearer secre", "Bearer secret2", "Basic secret", ""]) {
    assert.equal(await who(header), undefined);
  }
});
