import assert from "node:assert/strict";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { text } from "node:stream/consumers";
import { suite, test } from "node:test";
import { ApiError } from "../../base/api/api-error.ts";
import { HttpClient } from "../../base/net/http-client.ts";
import { systemClock } from "../../base/util/clock.ts";
import { AddressRules } from "./addresses.ts";
import { openBackend } from "./backend.ts";
import { KubeletClient } from "./kubelet-client.ts";

const OPTIONS = {
  preferredAddressTypes: ["Hostname"],
  timeoutMs: 1000,
  certificate: () => undefined,
  ca: () => undefined,
};

suite("S4: DNS rebinding", () => {
  test("connects to the address that was checked", async (t) => {
    const answers = ["127.0.0.1", "169.254.169.254"];
    let asked = 0;
    const resolve = async () => [answers[asked++] ?? ""];
    const client = new KubeletClient(systemClock, OPTIONS, new AddressRules([], true), resolve);
    const app = createServer((request, response) => response.end(request.headers.host));
    await new Promise<void>((done) => app.listen(0, "127.0.0.1", done));
    t.after(() => app.close());
    const { port } = app.address() as AddressInfo;
    const { tls: _, ...backend } = await client.backend({ host: "rebinding.example", port, features: [] });
    const http = new HttpClient({ clock: systemClock, keptConnections: 0 });
    const call = await openBackend(http, backend, { path: "/", headers: { host: "rebinding.example" } });
    const heard = new Promise<string>((done, fail) => {
      call.on("response", (response) => text(response).then(done, fail)).on("error", fail);
    });
    call.end();
    assert.equal(await heard, "rebinding.example");
    assert.equal(asked, 1);
    http.close();
  });

  test("rejects a name if any of its addresses is denied", async () => {
    const resolve = async () => ["10.0.0.1", "169.254.169.254"];
    const client = new KubeletClient(systemClock, OPTIONS, new AddressRules([], true), resolve);
    const asking = client.backend({ host: "mixed.example", port: 10_250, features: [] });
    await assert.rejects(asking, (error) => error instanceof ApiError && error.message === "address not allowed");
  });
});
