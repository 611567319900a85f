import assert from "node:assert/strict";
import { test } from "node:test";
import { ApiError } from "../../base/api/api-error.ts";
import type { Call } from "../../base/api/call.ts";
import { testRequest } from "../../data/encoding/test-request.suite.ts";
import { openId } from "./openid.ts";

const answer = openId([{ path: "/openid/v1/jwks", mediaType: "application/jwk-set+json", body: () => "{}" }]);
const ask = (path: string, method: string, accept?: string) =>
  answer({ request: { ...testRequest(), path, method, headers: { accept } } } as unknown as Call);

test("serves documents to clients that accept their media type", () => {
  for (const accept of [undefined, "*/*", "text/html, application/jwk-set+json;q=0.1"]) {
    assert.deepEqual(ask("/openid/v1/jwks", "GET", accept), {
      type: "raw",
      code: 200,
      headers: { "content-type": "application/jwk-set+json", "cache-control": "public, max-age=3600" },
      body: "{}",
    });
  }
  assert.equal(ask("/openid/v1/other", "GET"), undefined);
});

test("rejects other methods and media types", () => {
  const isRefused = (code: number) => (error: unknown) => error instanceof ApiError && error.code === code;
  assert.throws(() => ask("/openid/v1/jwks", "POST"), isRefused(405));
  assert.throws(() => ask("/openid/v1/jwks", "GET", "application/*"), isRefused(406));
});
