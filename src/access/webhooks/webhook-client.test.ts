import assert from "node:assert/strict";
import { createServer } from "node:https";
import type { AddressInfo } from "node:net";
import { after, before, suite, test } from "node:test";
import { makeCa, makeIdentity } from "../../base/pki/make-certificate.ts";
import { systemClock } from "../../base/util/clock.ts";
import { Meter, metered, TooCostly } from "../../base/util/meter.ts";
import { WebhookClient, WebhookFailure } from "./webhook-client.ts";

suite("WebhookClient", () => {
  const authority = makeCa("ca", Date.now());
  const { certificate, key } = makeIdentity(
    authority,
    { commonName: "hook", hosts: ["127.0.0.1", "hook.default.svc"] },
    "server",
    Date.now(),
  );
  const server = createServer({ cert: certificate, key }, (request, response) => {
    response.setHeader("content-type", "application/json");
    const [, code = "200", text] = answers.get(request.url?.split("?")[0] ?? "") ?? [];
    response.statusCode = Number(code);
    response.end(text ?? JSON.stringify({ path: request.url }));
  });
  /** Bodies by path, with the code before them. */
  const answers = new Map<string, readonly [message: RegExp, code: string, text: string]>([
    ["/large", [/the response is larger than 5242880 bytes/, "200", "x".repeat(6_000_000)]],
    ["/inline", [/json parse error: limit is 1048576 bytes/, "200", `{"a":"${"x".repeat(2_000_000)}"}`]],
    ["/values", [/json parse error: limit is 50000 values/, "200", `{"a":[${"0,".repeat(60_000)}0]}`]],
    ["/nested", [/json parse error: .*exceeded max depth/, "200", `{"a":${"[".repeat(20_000)}`]],
    ["/yaml", [/json parse error: limit is 65536 bytes of YAML/, "200", "- a\n".repeat(20_000)]],
    ["/status", [/an error on the server \("unknown"\)/, "500", `{"kind":"Status","a":[${"{},".repeat(50_000)}0]}`]],
  ]);
  let port = 0;
  before(async () => {
    await new Promise<void>((resolve) => void server.listen(0, "127.0.0.1", resolve));
    port = (server.address() as AddressInfo).port;
  });
  after(() => server.close().closeAllConnections());

  const client = new WebhookClient({ clock: systemClock, resolve: async () => ({ host: "127.0.0.1", port }) });
  after(() => client.close());
  const post = (config: object) => client.post({ config, body: "{}", timeoutMs: 10_000 });
  // The bundle is the server's own certificate, like in envtest.
  const caBundle = Buffer.from(certificate).toString("base64");

  for (const [path, [message]] of answers) {
    test(`rejects the response of ${path}, which would hold up the event loop`, async () => {
      await assert.rejects(post({ url: `https://127.0.0.1:${port}${path}`, caBundle }), (error: Error) => {
        assert.match(error.message, message);
        return error instanceof WebhookFailure;
      });
    });
  }

  for (const path of ["/inline", "/values", "/nested", "/yaml"]) {
    test(`leaves the response of ${path} to another thread if the request has a meter`, async () => {
      const config = { url: `https://127.0.0.1:${port}${path}`, caBundle };
      const asked = metered(new Meter(20_000), () => client.post({ config, body: "{}", timeoutMs: 10_000 }));
      await assert.rejects(asked, TooCostly);
    });
  }

  test("charges little for a small response", async () => {
    const meter = new Meter(1000);
    await metered(meter, () => post({ url: `https://127.0.0.1:${port}/small`, caBundle }));
    assert.ok(meter.left > 800, String(meter.left));
  });

  for (const [written, asked] of [
    ["//failing", "/failing"],
    ["/a/../b//c/", "/b/c"],
    ["", "/"],
  ]) {
    test(`posts to ${asked} if the path is ${JSON.stringify(written)}`, async () => {
      const path = `${asked}?timeout=10s`;
      assert.deepEqual(await post({ url: `https://127.0.0.1:${port}${written}`, caBundle }), { path });
      const service = { name: "hook", namespace: "default", path: written, port };
      assert.deepEqual(await post({ service, caBundle }), { path });
    });
  }
});
