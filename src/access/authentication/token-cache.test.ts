import assert from "node:assert/strict";
import { test } from "node:test";
import { ManualClock } from "../../base/util/environment.suite.ts";
import { AuthenticationError, type Authenticator, type Credentials } from "./authenticator.ts";
import { TokenCache, type TokenCacheOptions } from "./token-cache.ts";

/** Recognises every token that starts with "good", and counts its calls. */
function counted(): Authenticator & { asked: number } {
  const authenticator = {
    asked: 0,
    async authenticate({ bearerToken = "", audiences = [] }: Credentials) {
      authenticator.asked++;
      if (bearerToken.startsWith("bad")) throw new AuthenticationError("bad");
      return bearerToken.startsWith("good") ? { user: { name: bearerToken, groups: [] }, audiences } : undefined;
    },
  };
  return authenticator;
}

function cached(options: Partial<TokenCacheOptions> = {}) {
  const inner = counted();
  const clock = new ManualClock();
  const cache = new TokenCache(inner, { clock, successMs: 10_000, failureMs: 0, ...options });
  const ask = async (bearerToken: string, audiences: readonly string[] = ["a"]) =>
    (await cache.authenticate({ bearerToken, audiences, headers: {} }))?.user.name;
  return { inner, clock, cache, ask };
}

test("verifies a token once in 10 s", async () => {
  const { inner, clock, ask } = cached();
  for (let times = 0; times < 3; times++) assert.equal(await ask("good"), "good");
  assert.equal(inner.asked, 1);
  await clock.advance(9999);
  await ask("good");
  assert.equal(inner.asked, 1);
  await clock.advance(1);
  await ask("good");
  assert.equal(inner.asked, 2);
});

test("caches unknown tokens only if configured, and errors never", async () => {
  const { inner, ask, cache } = cached();
  for (let times = 0; times < 2; times++) {
    assert.equal(await ask("unknown"), undefined);
    await assert.rejects(ask("bad"), AuthenticationError);
  }
  assert.deepEqual([inner.asked, cache.size], [4, 0]);
  const remembering = cached({ failureMs: 1000 });
  for (let times = 0; times < 2; times++) {
    assert.equal(await remembering.ask("unknown"), undefined);
    await assert.rejects(remembering.ask("bad"), AuthenticationError);
  }
  assert.equal(remembering.inner.asked, 3);
});

test("caches results per audience list", async () => {
  const { inner, ask } = cached();
  await ask("good", ["a"]);
  await ask("good", ["a", "b"]);
  await ask("good", ["a1 b"]);
  await ask("good", []);
  assert.equal(inner.asked, 4);
});

test("verifies a revoked token again at once", async () => {
  let isGood = true;
  let asked = 0;
  const user = { name: "x", groups: [] };
  const inner: Authenticator = {
    async authenticate() {
      asked++;
      return isGood ? { user, isStillGood: () => isGood } : undefined;
    },
  };
  const cache = new TokenCache(inner, { clock: new ManualClock(), successMs: 10_000, failureMs: 0 });
  const ask = () => cache.authenticate({ bearerToken: "t", headers: {} });
  assert.ok(await ask());
  assert.ok(await ask());
  isGood = false;
  assert.equal(await ask(), undefined);
  assert.equal(asked, 2);
});

test("shares one verification among concurrent requests, with a timeout of 30 s", async () => {
  const { inner, ask } = cached();
  await Promise.all(Array.from({ length: 50 }, () => ask("good")));
  assert.equal(inner.asked, 1);
  const clock = new ManualClock();
  const never: Authenticator = { authenticate: () => new Promise(() => {}) };
  const cache = new TokenCache(never, { clock, successMs: 10_000, failureMs: 0 });
  const refused = assert.rejects(
    async () => cache.authenticate({ bearerToken: "t", headers: {} }),
    /deadline exceeded/,
  );
  await clock.advance(30_000);
  await refused;
});

test("limits the number of entries, and unknown tokens evict no valid one", async () => {
  const { inner, clock, cache, ask } = cached();
  await ask("good");
  for (let index = 0; index < 1000; index++) await ask(`unknown-${index}`);
  assert.equal(cache.size, 1);
  assert.equal(inner.asked, 1001);
  await ask("good");
  assert.equal(inner.asked, 1001);
  for (let index = 0; index < 33_000; index++) await ask(`good-${index}`);
  assert.equal(cache.size, 32_768);
  await clock.advance(10_000);
  await ask("good");
  assert.equal(cache.size, 1, "expired entries are removed when one is added");
});

test("recognises that a connection sends another token than before", async () => {
  const users: Authenticator = {
    authenticate: ({ bearerToken }) => ({ user: { name: bearerToken ?? "", groups: [] } }),
  };
  const cache = new TokenCache(users, { clock: new ManualClock(), successMs: 10_000, failureMs: 0 });
  const connections = [[], []];
  const shown = ["a", "a", "b", "a", "ab", "b"];
  for (const bearerToken of shown) {
    for (const certificateChain of connections) {
      const found = await cache.authenticate({ bearerToken, certificateChain, headers: {}, audiences: ["x"] });
      assert.equal(found?.user.name, bearerToken);
    }
  }
  assert.equal(cache.size, 3);
});
