import assert from "node:assert/strict";
import { test } from "node:test";
import { type MadeCertificate, makeCa, makeCertificate, OID, person } from "../../base/pki/certificates.suite.ts";
import { AuthenticationError, type Credentials } from "./authenticator.ts";
import { hideCredentials } from "./credential-headers.ts";
import { FrontProxy, type FrontProxyOptions, proxyHeaders } from "./front-proxy.ts";
import { readCertificate } from "./x509/certificate.ts";

const authority = makeCa("proxies");
const proxy = makeCertificate({ issuer: authority, subject: person("front") });
const OPTIONS: FrontProxyOptions = {
  allowedNames: ["front"],
  usernameHeaders: ["X-Remote-User", "X-Second"],
  uidHeaders: ["X-Remote-Uid"],
  groupHeaders: ["X-Remote-Group", "X-More-Groups"],
  extraHeaderPrefixes: ["X-Remote-Extra-"],
};

async function ask(headers: Credentials["headers"], chain: readonly MadeCertificate[] = [proxy], options = OPTIONS) {
  const trusted = { current: [readCertificate(authority.certificate)] };
  const certificateChain = chain.map(({ certificate }) => certificate);
  return (await new FrontProxy(trusted, Date, options).authenticate({ headers, certificateChain }))?.user;
}

test("accepts user, uid, groups and extra from a proxy with a valid certificate", async () => {
  const headers = {
    "x-remote-user": "alice",
    "x-remote-uid": "u-1",
    "x-remote-group": ["a", "", "b, c"],
    "x-more-groups": "d",
    "x-remote-extra-example.com%2fscopes": ["x", "y"],
    "x-remote-extra-100%": "z",
  };
  assert.deepEqual(await ask(headers), {
    name: "alice",
    uid: "u-1",
    groups: ["a", "b, c", "d"],
    extra: { "example.com/scopes": ["x", "y"], "100%": ["z"] },
  });
  assert.deepEqual(await ask({ "x-remote-user": ["", "bob"], "x-second": "carol" }), { name: "carol", groups: [] });
  assert.equal(await ask({ "x-remote-group": "system:masters" }), undefined, "without a user");
});

test("rejects a proxy without a certificate, or with a foreign, server, wrongly named or expired one", async () => {
  const headers = { "x-remote-user": "admin", "x-remote-group": "system:masters" };
  assert.equal(await ask(headers, []), undefined);
  const now = Date.now();
  for (const [text, request] of [
    [/unknown authority/, { subject: person("front") }],
    [/unknown authority/, { issuer: makeCa("proxies"), subject: person("front") }],
    [/incompatible key usage/, { issuer: authority, subject: person("front"), usages: [OID.serverAuth] }],
    [/subject with cn=other is not in the allowed list/, { issuer: authority, subject: person("other") }],
    [/expired/, { issuer: authority, subject: person("front"), from: now - 7_200_000, to: now - 3_600_000 }],
  ] as const) {
    await assert.rejects(ask(headers, [makeCertificate(request)]), (error) => {
      assert.ok(error instanceof AuthenticationError);
      assert.match(error.message, text);
      return true;
    });
  }
  const open = { ...OPTIONS, allowedNames: [] };
  assert.ok(await ask(headers, [makeCertificate({ issuer: authority, subject: person("other") })], open));
});

test("removes all credentials from the headers, also those that were not used", () => {
  const headers = {
    authorization: "Bearer x",
    "x-remote-user": "a",
    "x-remote-uid": "b",
    "x-remote-group": ["c"],
    "x-remote-extra-d": "e",
    "x-more-groups": "f",
    "x-remote-users": "stays",
    accept: "stays",
  };
  hideCredentials(headers, proxyHeaders(OPTIONS));
  assert.deepEqual(headers, { "x-remote-users": "stays", accept: "stays" });
});
