import assert from "node:assert/strict";
import { test } from "node:test";
import { testRequest } from "../encoding/test-request.suite.ts";
import { RequestCredentials } from "./authenticator.ts";
import { parseTokenFile, TokenAuthenticator } from "./token-file.ts";

const FILE = 'secret,admin,admin-uid,"system:masters,ops"\n\n# a remark\nother, alice ,alice-uid\n';

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
  const who = async (header?: string) => {
    const request = testRequest(header === undefined ? {} : { authorization: header });
    return (await authenticator.authenticate(new RequestCredentials(request)))?.user.name;
  };
  assert.equal(await who("Bearer secret"), "admin");
  assert.equal(await who("bearer  other"), "alice");
  for (const header of [undefined, "Bearer", "Bearer secre", "Bearer secret2", "Basic secret", ""]) {
    assert.equal(await who(header), undefined);
  }
});
