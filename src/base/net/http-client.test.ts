import assert from "node:assert/strict";
import { createServer, type IncomingMessage, type RequestListener, type ServerResponse } from "node:http";
import { createServer as createSecureServer } from "node:https";
import type { AddressInfo, Server } from "node:net";
import { after, suite, test } from "node:test";
import type { TLSSocket } from "node:tls";
import { extension, makeCa, makeCertificate, OID, person } from "../pki/certificates.suite.ts";
import { element, sequence } from "../pki/der.ts";
import { systemClock } from "../util/clock.ts";
import { ManualClock } from "../util/environment.suite.ts";
import { HttpClient } from "./http-client.ts";
import { transportError } from "./transport-error.ts";

const LIMITS = { timeoutMs: 30_000, maxBytes: 1000, allowsHttp: true };

suite("HttpClient", () => {
  const servers: (Server & { closeAllConnections(): void })[] = [];
  const clients: HttpClient[] = [];
  after(() => {
    for (const client of clients) client.close();
    for (const server of servers) server.close().closeAllConnections();
  });

  async function listening(server: (typeof servers)[number]): Promise<URL> {
    servers.push(server);
    await new Promise<void>((resolve) => void server.listen(0, "127.0.0.1", resolve));
    return new URL(`http://127.0.0.1:${(server.address() as AddressInfo).port}/`);
  }

  const serve = (listener: RequestListener) => listening(createServer(listener));

  function newClient(clock: Pick<ManualClock, "setTimer"> = systemClock): HttpClient {
    const client = new HttpClient({ clock });
    clients.push(client);
    return client;
  }

  test("reuses connections, but not for another client certificate", async () => {
    const authority = makeCa("ca");
    const certificate = makeCertificate({
      issuer: authority,
      usages: [OID.serverAuth],
      extensions: [extension("2.5.29.17", sequence(element(0x82, Buffer.from("hook.ns.svc"))))],
    });
    const tls = { cert: certificate.pem, key: certificate.keyPem, ca: authority.pem, requestCert: true };
    const ports: (number | undefined)[] = [];
    const secure = createSecureServer(tls, (request, response) => {
      ports.push(request.socket.remotePort);
      const { subject } = (request.socket as TLSSocket).getPeerCertificate();
      response.end(`${subject?.CN} asks ${request.headers.host} with ${request.headers["content-length"]} bytes`);
    });
    const { port } = await listening(secure);
    const client = newClient();
    const ask = async (name: string): Promise<string> => {
      const { pem, keyPem } = makeCertificate({ issuer: authority, subject: person(name) });
      const own = { ca: authority.pem, cert: pem, key: keyPem, servername: "hook.ns.svc" };
      const request = { ...LIMITS, method: "POST", headers: { host: "hook.ns.svc" }, body: "{}", tls: own };
      const target = { host: "127.0.0.1", port: Number(port), path: "/convert" };
      const [first, second] = [await client.send(target, request), await client.send(target, request)];
      assert.deepEqual(first.body, second.body);
      return first.body.toString();
    };
    assert.equal(await ask("alice"), "alice asks hook.ns.svc with 2 bytes");
    assert.equal(await ask("bob"), "bob asks hook.ns.svc with 2 bytes");
    assert.deepEqual([ports[0] === ports[1], ports[2] === ports[3], ports[0] === ports[2]], [true, true, false]);
    const foreign = new URL(`https://127.0.0.1:${port}/`);
    await assert.rejects(client.send(foreign, { ...LIMITS, tls: { ca: authority.pem } }), /127\.0\.0\.1/);
    await assert.rejects(client.send(foreign, { ...LIMITS, tls: { servername: "hook.ns.svc" } }), /certificate/);
  });

  test("trusts a server whose own certificate is in the bundle without its CA", async () => {
    const certificateOf = (issuer: ReturnType<typeof makeCa>) =>
      makeCertificate({
        issuer,
        usages: [OID.serverAuth],
        extensions: [extension("2.5.29.17", sequence(element(0x82, Buffer.from("hook.ns.svc"))))],
      });
    const authority = makeCa("ca");
    const { pem: cert, keyPem: key } = certificateOf(authority);
    const { port } = await listening(createSecureServer({ cert, key }, (_, response) => response.end("here")));
    const target = new URL(`https://127.0.0.1:${port}/`);
    const trusting = (ca: string, servername = "hook.ns.svc") => ({ ...LIMITS, tls: { ca, servername } });
    const client = newClient();
    assert.equal((await client.send(target, trusting(cert))).body.toString(), "here");
    await assert.rejects(newClient().send(target, trusting(cert, "other.ns.svc")), /other\.ns\.svc/);
    await assert.rejects(newClient().send(target, trusting(certificateOf(authority).pem)), /certificate/);
  });

  test("retries on a new connection if the server closes a reused one", async () => {
    const used = new Set<unknown>();
    const url = await serve(({ socket }, response) => {
      if (used.has(socket)) return void socket.destroy();
      used.add(socket);
      response.end("ok");
    });
    const client = newClient();
    for (let count = 1; count <= 3; count++) {
      assert.equal((await client.send(url, LIMITS)).status, 200);
      assert.equal(used.size, count);
    }
  });

  test("times out at the deadline, before and during the response", async () => {
    const clock = new ManualClock(0);
    const waiting: ServerResponse[] = [];
    const url = await serve((_, response) => void waiting.push(response));
    const client = newClient(clock);
    for (const begins of [false, true]) {
      const answer = client.send(url, LIMITS);
      const refused = assert.rejects(answer, { name: "TimeoutError", message: "context deadline exceeded" });
      while (waiting.length === 0) await new Promise((resolve) => setImmediate(resolve));
      if (begins) waiting[0]?.write("a");
      await clock.advance(LIMITS.timeoutMs);
      await refused;
      waiting.pop();
    }
    assert.equal(clock.timerCount, 0);
    const gone = new AbortController();
    const answer = client.send(url, { ...LIMITS, signal: gone.signal });
    gone.abort(new Error("the caller is gone"));
    await assert.rejects(answer, /the caller is gone/);
  });

  test("follows redirects only if enabled, and to HTTP only if allowed", async () => {
    const url = await serve(({ url: path }: IncomingMessage, response) => {
      if (path === "/end") return void response.end("there");
      response.writeHead(302, { location: path === "/" ? "/next" : "/end" }).end();
    });
    const client = newClient();
    const { status, headers } = await client.send(url, LIMITS);
    assert.deepEqual([status, headers.location], [302, "/next"]);
    assert.equal((await client.send(url, { ...LIMITS, maxRedirects: 1 })).headers.location, "/end");
    assert.equal((await client.send(url, { ...LIMITS, maxRedirects: 2 })).body.toString(), "there");
    await assert.rejects(client.send(url, { ...LIMITS, allowsHttp: false }), /unsupported protocol scheme "http"/);
  });

  test("rejects a response that is too large, and reports connection errors like Go", async () => {
    const url = await serve((_, response) => void response.end("x".repeat(1001)));
    const client = newClient();
    await assert.rejects(client.send(url, LIMITS), /the response is larger than 1000 bytes/);
    const words = (target: URL) => client.send(target, LIMITS).then(String, transportError);
    const refused = "dial tcp 127.0.0.1:1: connect: connection refused";
    assert.equal(await words(new URL("http://127.0.0.1:1/")), refused);
  });
});
