import assert from "node:assert/strict";
import { test } from "node:test";
import type { Credentials } from "./authenticator.ts";
import { TokenAuthenticator } from "./token-file.ts";
import { webSocketToken } from "./websocket-token.ts";

const PREFIX = "base64url.bearer.authorization.k8s.io.";
const authenticator = webSocketToken(
  new TokenAuthenticator([{ token: "sécret", user: { name: "alice", groups: [] } }]),
);
const encode = (text: string | Buffer): string => PREFIX + Buffer.from(text).toString("base64url");
const good = encode("sécret");

async function ask(protocols: string | string[] | undefined, more: Record<string, string> = {}) {
  const headers: Record<string, string | string[] | undefined> = {
    upgrade: "WebSocket",
    connection: "keep-alive, Upgrade",
    "sec-websocket-protocol": protocols,
    ...more,
  };
  const found = await authenticator.authenticate({ headers } as Credentials);
  return { name: found?.user.name, left: headers["sec-websocket-protocol"] };
}

test("accepts a token among the WebSocket subprotocols, and removes it from the negotiation", async () => {
  assert.deepEqual(await ask(`v5.channel.k8s.io, ${good},v4.channel.k8s.io`), {
    name: "alice",
    left: "v5.channel.k8s.io,v4.channel.k8s.io",
  });
  assert.deepEqual(await ask([good, "v4.channel.k8s.io"]), { name: "alice", left: "v4.channel.k8s.io" });
});

test("has no opinion on requests without a WebSocket or a token", async () => {
  for (const [name, value] of [
    ["upgrade", "spdy/3.1"],
    ["upgrade", ""],
    ["connection", "keep-alive"],
    ["connection", "upgraded"],
  ] as const) {
    const more = { [name]: value };
    assert.deepEqual(await ask(`x,${good}`, more), { name: undefined, left: `x,${good}` });
  }
  assert.equal((await ask("v4.channel.k8s.io")).name, undefined);
  assert.equal((await ask(undefined)).name, undefined);
  assert.equal((await ask(PREFIX)).name, undefined);
});

test("rejects wrong tokens with the messages of ProtocolAuthenticator", async () => {
  for (const [protocols, text] of [
    [`x,${good},${good}`, "multiple base64.bearer.authorization tokens specified"],
    [`x,${PREFIX}a`, "invalid base64.bearer.authorization token encoding"],
    [`x,${PREFIX}YWE=`, "invalid base64.bearer.authorization token encoding"],
    [`x,${encode(Buffer.from([0xff, 0xfe]))}`, "invalid base64.bearer.authorization token"],
    [good, "missing additional subprotocol"],
    [`x,${encode("other")}`, "invalid bearer token"],
  ] as const) {
    await assert.rejects(ask(protocols), { message: text });
  }
});
