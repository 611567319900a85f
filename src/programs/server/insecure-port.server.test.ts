import assert from "node:assert/strict";
import { once } from "node:events";
import { mkdtemp, rm } from "node:fs/promises";
import net from "node:net";
import { tmpdir } from "node:os";
import path from "node:path";
import { after, before, describe, it } from "node:test";
import { freePort } from "../../../test/support/ports.ts";
import { drivenEnvironment } from "../../base/util/environment.suite.ts";
import { defaultConfig } from "./config.ts";
import { type Server, startServer } from "./server.ts";

const start = (certDir: string, insecurePort: number) =>
  startServer({ ...defaultConfig, certDir, securePort: 0, insecurePort, shutdownGraceMs: 0 }, drivenEnvironment());

const CONFIG_MAPS = "/api/v1/namespaces/default/configmaps";
const WEBSOCKET = {
  connection: "Upgrade",
  upgrade: "websocket",
  "sec-websocket-key": "dGhlIHNhbXBsZSBub25jZQ==",
  "sec-websocket-version": "13",
};

describe("the port without TLS", () => {
  let folder: string;
  let server: Server;
  let port: number;
  before(async () => {
    folder = await mkdtemp(path.join(tmpdir(), "binnacle-insecure-"));
    port = await freePort();
    server = await start(folder, port);
  });
  after(async () => {
    await server.close();
    await rm(folder, { recursive: true, force: true });
  });

  /** The status line of what a request is answered with, and the text that follows. */
  const ask = async (line: string, headers: Readonly<Record<string, string>>, body = ""): Promise<string> => {
    const socket = net.connect(port, "127.0.0.1");
    const fields = { connection: "close", "content-length": String(body.length), ...headers };
    const lines = Object.entries(fields).map(([name, value]) => `${name}: ${value}\r\n`);
    socket.write(`${line} HTTP/1.1\r\n${lines.join("")}\r\n${body}`);
    let got = "";
    socket.setEncoding("latin1").on("data", (text) => {
      got += text;
      if (got.startsWith("HTTP/1.1 101")) socket.destroy();
    });
    await once(socket, "close");
    return got;
  };
  const status = async (...request: Parameters<typeof ask>): Promise<number> =>
    Number((await ask(...request)).split(" ", 2)[1]);

  it("is reached by loopback's names and addresses", async () => {
    for (const host of ["127.0.0.1", `127.0.0.1:${port}`, `localhost:${port}`, "LocalHost", "[::1]:80", "127.9.9.9"]) {
      assert.equal(await status("GET /api/v1/secrets", { host }), 200, host);
    }
  });

  it("refuses names that lead here by DNS rebinding", async () => {
    const foreign = [
      "attacker.example",
      `attacker.example:${port}`,
      "127.0.0.1.attacker.example",
      "localhost.evil",
      "",
    ];
    for (const host of [...foreign, "10.0.0.1", "[::ffff:127.0.0.1]", "127.0.0.1:x", "127.1"]) {
      const got = await ask("GET /api/v1/secrets", { host });
      assert.match(got, /^HTTP\/1.1 403 [\s\S]*"forbidden: the insecure port only accepts/, host);
    }
    // What Go takes for no host at all is refused before anybody looks at it.
    assert.equal(await status("GET /api/v1/secrets", { host: "evil@127.0.0.1" }), 400);
  });

  it("refuses what a page of another origin sends, whatever its type", async () => {
    const host = `127.0.0.1:${port}`;
    const body = '{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"csrf"}}';
    const other = ["https://evil.example", "null", `http://localhost:${port}`, "http://127.0.0.1:1", `https://${host}`];
    for (const origin of other) {
      assert.equal(await status(`POST ${CONFIG_MAPS}`, { host, origin }, body), 403, origin);
      assert.equal(await status(`POST ${CONFIG_MAPS}`, { host, origin, "content-type": "text/plain" }, body), 403);
      assert.equal(await status("GET /api/v1/secrets", { host, origin }), 403);
    }
    for (const site of ["cross-site", "same-site", "anything"]) {
      assert.equal(await status(`POST ${CONFIG_MAPS}`, { host, "sec-fetch-site": site }, body), 403, site);
    }
    assert.equal(await status(`GET ${CONFIG_MAPS}/csrf`, { host }), 404, "none was created");
    const own = { host, origin: `http://${host}`, "sec-fetch-site": "same-origin" };
    assert.equal(await status(`POST ${CONFIG_MAPS}`, own, body), 201);
    assert.equal(await status(`GET ${CONFIG_MAPS}/csrf`, { host, "sec-fetch-site": "none" }), 200);
  });

  it("refuses WebSockets of another origin", async () => {
    const watch = "GET /api/v1/secrets?watch=true";
    const host = `127.0.0.1:${port}`;
    assert.equal(await status(watch, { ...WEBSOCKET, host, origin: "https://evil.example" }), 403);
    assert.equal(await status(watch, { ...WEBSOCKET, host: "evil.example", origin: "http://evil.example" }), 403);
    assert.equal(
      await status(watch, { ...WEBSOCKET, host, origin: `http://${host}`, "sec-fetch-site": "cross-site" }),
      403,
    );
    assert.equal(await status(watch, { ...WEBSOCKET, host, origin: `http://${host}` }), 101);
  });

  it("is off with 0", async () => {
    const other = await mkdtemp(path.join(tmpdir(), "binnacle-insecure-"));
    const without = await start(other, 0);
    assert.equal(without.insecureUrl, undefined);
    await without.close();
    await rm(other, { recursive: true, force: true });
  });
});
