import assert from "node:assert/strict";
import { after, before, beforeEach, describe, it } from "node:test";
import { eventually } from "../../../../test/support/time.ts";
import { HttpClient } from "../../../base/net/http-client.ts";
import { systemClock } from "../../../base/util/clock.ts";
import { ManualClock } from "../../../base/util/environment.suite.ts";
import { AuthenticationError } from "../authenticator.ts";
import type { JwtAuthenticator } from "./configuration.ts";
import { makeTestKey, publicJwk, startIssuer, type TestIssuer } from "./issuer.suite.ts";
import { JwtIssuers, type JwtIssuersOptions } from "./jwt-issuers.ts";

const log = { error: () => {}, warn: () => {}, info: () => {} };

describe("JwtIssuers", () => {
  let issuer: TestIssuer;
  before(async () => {
    issuer = await startIssuer();
  });
  after(() => issuer.close());
  beforeEach(() => {
    issuer.keys = [issuer.key];
    issuer.routes.set("/keys", () => JSON.stringify({ keys: issuer.keys.map(publicJwk) }));
    issuer.asked.clear();
  });

  function configuration(more: Partial<JwtAuthenticator["claimMappings"]> = {}): JwtAuthenticator {
    return {
      issuer: { url: issuer.url, certificateAuthority: issuer.authority, audiences: ["binnacle", "other"] },
      claimValidationRules: [],
      claimMappings: {
        username: { claim: "sub", prefix: "o:" },
        groups: { claim: "groups", prefix: "g:" },
        uid: {},
        extra: [],
        ...more,
      },
      userValidationRules: [],
    };
  }

  const client = new HttpClient({ clock: systemClock });
  after(() => client.close());

  async function started(given = configuration(), more: Partial<JwtIssuersOptions> = {}): Promise<JwtIssuers> {
    const options = { clock: systemClock, log, client };
    const issuers = new JwtIssuers([given], { ...options, algorithms: ["RS256", "ES256"], ...more });
    await issuers.start();
    return issuers;
  }

  const ask = async (issuers: JwtIssuers, bearerToken: string) =>
    (await issuers.authenticate({ bearerToken, headers: {} }))?.user;

  async function refuses(token: string, text: RegExp, issuers?: JwtIssuers): Promise<void> {
    await assert.rejects(ask(issuers ?? (await started()), token), (error) => {
      assert.ok(error instanceof AuthenticationError);
      assert.match(error.message, text);
      assert.ok(!error.message.includes(token.split(".")[2] || "-none-"), "the message does not contain the token");
      return true;
    });
  }

  it("maps the claims to a user", async () => {
    const claims = { groups: ["a", "b"], jti: "id-1", aud: ["x", "other"] };
    assert.deepEqual(await ask(await started(), issuer.token(claims)), {
      name: "o:alice",
      groups: ["g:a", "g:b"],
      extra: { "authentication.kubernetes.io/credential-id": ["JTI=id-1"] },
    });
    const email = configuration({ username: { claim: "email", prefix: "" }, uid: { claim: "oid" } });
    const issuers = await started(email);
    const who = (more: Record<string, unknown>) => ask(issuers, issuer.token({ email: "a@b", oid: "7", ...more }));
    assert.deepEqual(await who({ groups: "one" }), { name: "a@b", uid: "7", groups: ["g:one"] });
    assert.ok(await who({ email_verified: true }));
    await assert.rejects(who({ email_verified: false }), /^Error: oidc: email not verified$/);
    await assert.rejects(
      who({ oid: 7 }),
      /parse uid claim "oid": json: cannot unmarshal number into Go value of type string/,
    );
  });

  it("has no opinion on tokens of other issuers", async () => {
    const issuers = await started();
    assert.equal(await ask(issuers, issuer.token({ iss: "https://other.example" })), undefined);
    for (const token of ["", "a", "a.b", "a.b.c", "..", "a.b.c.d", "{}"])
      assert.equal(await ask(issuers, token), undefined);
  });

  it("rejects tokens that are expired, not yet valid, or for another audience", async () => {
    const now = Math.floor(Date.now() / 1000);
    await refuses(issuer.token({ exp: now - 10 }), /^oidc: verify token: oidc: token is expired \(Token Expiry: /);
    await refuses(issuer.token({ exp: undefined }), /token is expired/);
    await refuses(issuer.token({ exp: "tomorrow" }), /failed to unmarshal claims/);
    await refuses(issuer.token({ nbf: now + 120 }), /before the nbf \(not before\) time/);
    assert.ok(await ask(await started(), issuer.token({ nbf: now + 30 })), "clocks differ");
    await refuses(issuer.token({ aud: "foreign" }), /expected audience in \["binnacle" "other"\] got \["foreign"\]/);
    await refuses(issuer.token({ aud: undefined }), /expected audience in/);
  });

  it("rejects tokens without a required claim", async () => {
    const given = { ...configuration(), claimValidationRules: [{ claim: "hd", requiredValue: "x" }] };
    const issuers = await started(given);
    assert.ok(await ask(issuers, issuer.token({ hd: "x" })));
    await refuses(issuer.token(), /^oidc: required claim hd not present in ID token$/, issuers);
    await refuses(issuer.token({ hd: "y" }), /required claim hd value does not match. Got = y, want = x$/, issuers);
  });

  it("rejects unsigned tokens, and tokens signed with the public key as a secret", async () => {
    await refuses(
      issuer.token({}, { header: { alg: "none" }, isUnsigned: true }),
      /unsupported algorithm, expected .* got "none"/,
    );
    await refuses(issuer.token({}, { isUnsigned: true }), /failed to verify id token signature/);
    const pem = issuer.key.publicKey.export({ type: "spki", format: "pem" });
    const der = issuer.key.publicKey.export({ type: "spki", format: "der" });
    const jwk = JSON.stringify(publicJwk(issuer.key));
    for (const secret of [pem, der, jwk]) {
      await refuses(
        issuer.token({}, { header: { alg: "HS256" }, secret }),
        /unsupported algorithm, expected .* got "HS256"/,
      );
      await refuses(issuer.token({}, { secret }), /failed to verify id token signature/);
    }
  });

  it("rejects tokens that contain their key or refer to one", async () => {
    const own = makeTestKey("own");
    const foreign = makeTestKey(issuer.key.id);
    const served = `${issuer.url}/attacker`;
    issuer.routes.set("/attacker", () => JSON.stringify({ keys: [publicJwk(own)] }));
    for (const header of [
      { jwk: publicJwk(own) },
      { jku: served },
      { x5u: served },
      { x5c: [own.publicKey.export({ type: "spki", format: "der" }).toString("base64")] },
      { kid: "../../../dev/null" },
      { kid: "' or '1'='1" },
      { kid: "" },
      { kid: ["one"] },
      { crit: ["exp"] },
    ]) {
      await refuses(issuer.token({}, { key: own, header }), /failed to verify id token signature/);
    }
    await refuses(issuer.token({}, { key: foreign }), /failed to verify id token signature/);
    assert.equal(issuer.asked.get("/attacker"), undefined);
  });

  it("rejects tokens whose algorithm does not match the key", async () => {
    const curve = makeTestKey("curve", "ES256");
    issuer.keys = [issuer.key, curve];
    const issuers = await started();
    assert.ok(await ask(issuers, issuer.token({}, { key: curve })));
    await refuses(issuer.token({}, { key: curve, header: { alg: "RS256" } }), /failed to verify id token/, issuers);
    await refuses(issuer.token({}, { header: { alg: "ES256" } }), /failed to verify id token/, issuers);
    await refuses(
      issuer.token({}, { key: curve }),
      /unsupported algorithm/,
      await started(undefined, { algorithms: ["RS256"] }),
    );
  });

  it("fetches the keys again for an unknown key, but not for every token", async () => {
    const clock = new ManualClock(Date.now());
    const issuers = await started(undefined, { clock });
    assert.ok(await ask(issuers, issuer.token()));
    const next = makeTestKey("two");
    issuer.keys = [next];
    await clock.advance(1000);
    assert.ok(await ask(issuers, issuer.token({}, { key: next })));
    assert.equal(issuer.asked.get("/keys"), 2);
    for (let count = 0; count < 100; count++) await refuses(issuer.token({ count }), /failed to verify/, issuers);
    assert.equal(issuer.asked.get("/keys"), 2);
    await clock.advance(1000);
    await refuses(issuer.token(), /failed to verify/, issuers);
    assert.equal(issuer.asked.get("/keys"), 3);
  });

  it("rejects tokens if the key set is too long, invalid or unavailable", async () => {
    const refusal = async (body: () => string | Buffer | undefined, text: RegExp) => {
      issuer.routes.set("/keys", body);
      await refuses(issuer.token(), text);
    };
    await refusal(() => Buffer.alloc(10 * 1024 * 1024, " "), /fetching keys the response is larger than 1048576 bytes/);
    await refusal(() => "nothing", /failed to decode keys/);
    await refusal(() => JSON.stringify({ keys: Array(257).fill({}) }), /more than 256/);
    await refusal(
      () => JSON.stringify({ keys: [{ kty: "oct", k: "AAAA" }, null, { kty: "RSA", n: 1 }] }),
      /failed to verify/,
    );
    const clock = new ManualClock(Date.now());
    issuer.routes.set("/keys", () => undefined);
    const issuers = await started(undefined, { client: new HttpClient({ clock }) });
    const refused = refuses(issuer.token(), /fetching keys context deadline exceeded/, issuers);
    await eventually(() => issuer.asked.get("/keys") === 5);
    await clock.advance(30_000);
    await refused;
  });

  it("rejects tokens until discovery has succeeded, which needs a matching issuer", async () => {
    const clock = new ManualClock(Date.now());
    const { routes } = issuer;
    const good = routes.get("/.well-known/openid-configuration");
    routes.set("/.well-known/openid-configuration", () =>
      JSON.stringify({ issuer: "https://x", jwks_uri: "https://x" }),
    );
    const options = { clock, log, client, algorithms: ["RS256"] };
    const issuers = new JwtIssuers([configuration()], options);
    const found = issuers.start();
    await eventually(() => clock.timerCount === 1);
    await refuses(issuer.token(), /^oidc: authenticator not initialized$/, issuers);
    if (good) routes.set("/.well-known/openid-configuration", good);
    await clock.advance(10_000);
    await found;
    assert.ok(await ask(issuers, issuer.token()));
  });

  it("rejects tokens with distributed groups claims", async () => {
    const claims = { _claim_names: { groups: "s" }, _claim_sources: { s: { endpoint: `${issuer.url}/groups` } } };
    await refuses(issuer.token(claims), /distributed claims are not supported/);
    assert.equal(issuer.asked.get("/groups"), undefined);
  });
});
