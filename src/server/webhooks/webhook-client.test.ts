import assert from "node:assert/strict";
import { createServer } from "node:https";
import type { AddressInfo } from "node:net";
import { after, before, suite, test } from "node:test";
import { makeAuthority, makeIdentity } from "../../http/x509.ts";
import { systemClock } from "../../lib/clock.ts";
import { WebhookClient } from "./webhook-client.ts";

suite("a webhook", () => {
  const authority = makeAuthority("ca", Date.now());
  const { certificate, key } = makeIdentity(
    authority,
    { commonName: "hook", hosts: ["127.0.0.1", "hook.default.svc"] },
    "server",
    Date.now(),
  );
  const server = createServer({ cert: certificate, key }, (request, response) => {
    response.setHeader("content-type", "application/json");
    response.end(JSON.stringify({ path: request.url }));
  });
  let port = 0;
  before(async () => {
    await new Promise<void>((resolve) => void server.listen(0, "127.0.0.1", resolve));
    port = (server.address() as AddressInfo).port;
  });
  after(() => server.close().closeAllConnections());

  const client = new WebhookClient({ clock: systemClock, resolve: async () => ({ host: "127.0.0.1", port }) });
  after(() => client.close());
  const post = (config: object) => client.post({ config, body: "{}", timeoutMs: 10_000 });
  // The bundle is the server's own certificate, as envtest has it.
  const caBundle = Buffer.from(certificate).toString("base64");

  for (const [written, asked] of [
    ["//failing", "/failing"],
    ["/a/../b//c/", "/b/c"],
    ["", "/"],
  ]) {
    test(`is asked at ${asked} when its path is ${JSON.stringify(written)}`, async () => {
      const path = `${asked}?timeout=10s`;
      assert.deepEqual(await post({ url: `https://127.0.0.1:${port}${written}`, caBundle }), { path });
      const service = { name: "hook", namespace: "default", path: written, port };
      assert.deepEqual(await post({ service, caBundle }), { path });
    });
  }
});
