import assert from "node:assert/strict";
import { test } from "node:test";
import { testRequest } from "../../data/encoding/test-request.suite.ts";
import { RequestCredentials } from "./authenticator.ts";
import { parseTokenFile, TokenAuthenticator } from "./token-file.ts";

const FILE = 'secret,admin,admin-uid,"system:masters,ops"\n\r\nother, alice ,alice-uid\r\n"a ""b",bob,""\n';

const silent = (text: string): void => assert.fail(text);
const parse = (text: string) => parseTokenFile(text, "tokens.csv", silent);

test("parses users and their groups like encoding/csv", () => {
  const users = parse(FILE).map(({ user }) => user);
  assert.deepEqual(users, [
    { name: "admin", uid: "admin-uid", groups: ["system:masters", "ops"] },
    { name: " alice ", uid: "alice-uid", groups: [] },
    { name: "bob", uid: "", groups: [] },
  ]);
  assert.equal(parse(FILE)[2]?.token, 'a "b');
  assert.deepEqual(parse(""), []);
  assert.deepEqual(parse("t,u,")[0]?.user.uid, "");
});

test("rejects a malformed token file", () => {
  const columns =
    /^Error: token file 'tokens.csv' must have at least 3 columns \(token, user name, user uid\), found 1$/;
  assert.throws(() => parse("a,b,c\nonly-a-token\n"), columns);
  assert.throws(() => parse("# a remark\n"), columns);
  for (const text of ['a,b,c\na"b,c,d', 'a,b,c\n"a,b,c', 'a,b,c\n"a"b,c,d']) assert.throws(() => parse(text), /line 2/);
});

test("skips a record without a token and warns", () => {
  const warnings: string[] = [];
  const tokens = parseTokenFile(',root,0,"system:masters"\na,b,c\n', "f", (text) => warnings.push(text));
  assert.deepEqual(
    tokens.map(({ token }) => token),
    ["a"],
  );
  assert.deepEqual(warnings, ["empty token has been found in token file 'f', record number '1'"]);
});

const credentials = (authorization?: string | string[]) =>
  new RequestCredentials({ ...testRequest(), headers: { authorization } }, []);

test("recognises only complete tokens", async () => {
  const authenticator = new TokenAuthenticator([...parse(FILE), ...parse("\u00a0x,nobody,0\nsecret,last,1")]);
  const who = async (header?: string | string[]) => (await authenticator.authenticate(credentials(header)))?.user.name;
  assert.equal(await who("Bearer secret"), "last", "the last of two users");
  assert.equal(await who("\t bearer other \r\n"), " alice ");
  assert.equal(await who("Bearer other and more"), " alice ");
  assert.equal(await who(["Bearer other", "Bearer secret"]), " alice ");
  for (const header of [undefined, "Bearer", "Bearer secre", "Bearer secret2", "Basic secret", "", "Bearer\tother"]) {
    assert.equal(await who(header), undefined);
  }
  for (const header of ["Bearer  other", "Bearer\u00a0other", "Bearer other\u00a0", "Bearer \u00a0"]) {
    assert.equal(await who(header), undefined, JSON.stringify(header));
  }
});

test("rejects empty tokens", async () => {
  const user = { name: "root", groups: [] };
  for (const token of ["", " ", "\u00a0"]) {
    assert.throws(() => new TokenAuthenticator([{ token, user }]), /the token of user root is empty/);
  }
  const authenticator = new TokenAuthenticator(parse(FILE));
  assert.equal(await authenticator.authenticate({ bearerToken: "", headers: {} }), undefined);
});

test("warns about an extra space before the token, like bearertoken.Authenticator", () => {
  const text = "the provided Authorization header contains extra space before the bearer token, and is ignored";
  assert.equal(credentials("Bearer  other").warning, text);
  for (const header of [undefined, "Bearer", "Bearer ", "Basic  x", "Bearer x  y"]) {
    assert.equal(credentials(header).warning, undefined);
  }
});
