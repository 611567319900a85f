import assert from "node:assert/strict";
import { once } from "node:events";
import { createServer as createPlainServer } from "node:http";
import { createServer, request, type Server as SecureServer } from "node:https";
import type { AddressInfo } from "node:net";
import { after, before, suite, test } from "node:test";
import { connect } from "node:tls";
import { makeCa, makeIdentity } from "../../src/base/pki/make-certificate.ts";
import { startServer } from "../../src/programs/library/start-server.ts";
import type { Server } from "../../src/programs/server/server.ts";
import { type Client, clientFor } from "../support/client.ts";
import { eventually } from "../support/time.ts";
import { startWebhookServer, type WebhookServer } from "../support/webhook-server.ts";

const REDIRECTS = [301, 302, 303, 307, 308];
const GROUP = "evil.example.com";
const SECRET = "what-only-a-private-network-may-hear";

const SMUGGLED = "HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\nContent-Length: 8\r\n\r\nsmuggled";
/** Responses that the extension server writes as they are, by a part of the path. */
const ANSWERS: Readonly<Record<string, string>> = {
  twice: `HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nfirst${SMUGGLED}`,
  "both-lengths": `HTTP/1.1 200 OK\r\nContent-Length: 3\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n${SMUGGLED}`,
  "two-lengths": `HTTP/1.1 200 OK\r\nContent-Length: 5\r\nContent-Length: 90\r\n\r\nfirst${SMUGGLED}`,
  "no-content": `HTTP/1.1 204 No Content\r\nContent-Length: ${SMUGGLED.length}\r\n\r\n${SMUGGLED}`,
  early: `HTTP/1.1 103 Early Hints\r\nLink: <x>\r\n\r\nHTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nfirst${SMUGGLED}`,
  switching: `HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\r\n${SMUGGLED}`,
};

/** An extension server that redirects every request, and accepts no upgrade. */
async function startEvilServer(): Promise<{ server: SecureServer; caBundle: string; heard: string[] }> {
  const authority = makeCa("evil", Date.now());
  const identity = { commonName: "evil", hosts: ["evil.default.svc"] };
  const own = makeIdentity(authority, identity, "server", Date.now());
  const heard: string[] = [];
  const server = createServer({ cert: own.certificate, key: own.key }, (request, response) => {
    const { url = "", method } = request;
    const [, , , , code] = url.split("/");
    if (code === undefined) {
      const list = { kind: "APIResourceList", apiVersion: "v1", groupVersion: `${GROUP}/v1`, resources: [] };
      response.writeHead(200, { "content-type": "application/json" }).end(JSON.stringify(list));
      return;
    }
    heard.push(`${method} ${url}`);
    const raw = ANSWERS[code];
    if (raw !== undefined) {
      response.socket?.write(raw);
      return;
    }
    request.resume();
    response.writeHead(Number.parseInt(code, 10), { location: "https://elsewhere.example/" }).end();
  });
  server.on("upgrade", ({ url = "" }, socket) => {
    heard.push(`upgrade ${url}`);
    socket.on("error", () => socket.destroy()).on("data", (chunk: Buffer) => heard.push(String(chunk)));
    socket.write("HTTP/1.1 400 Bad Request\r\nContent-Length: 2\r\n\r\nno");
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  return { server, heard, caBundle: Buffer.from(authority.certificate).toString("base64") };
}

// docs/connect.md lists these attacks.
suite("servers that send this one, or its clients, elsewhere", () => {
  let server: Server;
  let client: Client;
  let hook: WebhookServer;
  let evil: Awaited<ReturnType<typeof startEvilServer>>;
  const lines: string[] = [];
  let asked = 0;
  const privateServer = createPlainServer((_request, response) => {
    asked++;
    response.end(SECRET);
  });

  before(async () => {
    [hook, evil] = await Promise.all([startWebhookServer(), startEvilServer()]);
    await new Promise<void>((resolve) => privateServer.listen(0, "127.0.0.1", resolve));
    const { port } = privateServer.address() as AddressInfo;
    for (const code of REDIRECTS) {
      hook.behaviours.set(`redirect-${code}`, (_review, response) => {
        const headers = { location: `http://127.0.0.1:${port}/`, "content-type": "text/plain" };
        response.writeHead(code, headers).end(SECRET);
      });
    }
    const keep = (...logged: unknown[]): void => void lines.push(JSON.stringify(logged, errorsToo));
    const handlers = {
      service: ({ metadata }: { metadata: { name?: string } }) =>
        metadata.name === "evil" ? { port: (evil.server.address() as AddressInfo).port } : undefined,
    };
    const log = { debug: keep, info: keep, warn: keep, error: keep };
    server = await startServer({ log: log as never, connect: { handlers } });
    client = clientFor(server.url, server.token);
  });
  after(async () => {
    await server?.close();
    privateServer.close();
    evil?.server.closeAllConnections();
    evil?.server.close();
    await hook?.stop();
  });

  for (const kind of ["Validating", "Mutating"]) {
    test(`S3, CVE-2020-8561: a redirect of a ${kind.toLowerCase()} webhook is not followed, and not logged`, async () => {
      const path = `/apis/admissionregistration.k8s.io/v1/${kind.toLowerCase()}webhookconfigurations`;
      for (const code of REDIRECTS) {
        const name = `${kind.toLowerCase()}-${code}`;
        const rule = { apiGroups: [""], apiVersions: ["v1"], operations: ["CREATE"], resources: ["configmaps"] };
        const made = await client.call("POST", path, {
          metadata: { name },
          webhooks: [
            {
              name: `${name}.example.com`,
              clientConfig: { url: hook.url("us", `redirect-${code}`), caBundle: hook.caBundle },
              rules: [rule],
              objectSelector: { matchLabels: { for: name } },
              sideEffects: "None",
              admissionReviewVersions: ["v1"],
            },
          ],
        });
        assert.equal(made.status, 201, JSON.stringify(made.body));
        hook.received.length = 0;
        const object = { metadata: { generateName: "a-", labels: { for: name } }, data: { text: SECRET } };
        await eventually(async () => {
          const { status, body } = await client.call("POST", "/api/v1/namespaces/default/configmaps", object);
          if (status === 201) return false;
          assert.equal(status, 500, JSON.stringify(body));
          assert.match(body.message, /failed calling webhook/);
          assert.ok(!body.message.includes(SECRET), body.message);
          return true;
        });
        assert.equal(hook.received.length, 1, "asked once");
      }
      assert.equal(asked, 0);
      assert.deepEqual(
        lines.filter((line) => line.includes(SECRET)),
        [],
      );
    });
  }

  test("S3, CVE-2020-8561: a redirect of a conversion webhook is not followed", async () => {
    for (const code of REDIRECTS) {
      const plural = `moved${code}s`;
      const definitions = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions";
      const schema = { openAPIV3Schema: { type: "object", "x-kubernetes-preserve-unknown-fields": true } };
      const version = (name: string, storage: boolean) => ({ name, served: true, storage, schema });
      const clientConfig = { url: hook.url("us", `redirect-${code}`), caBundle: hook.caBundle };
      const made = await client.call("POST", definitions, {
        metadata: { name: `${plural}.${GROUP}` },
        spec: {
          group: GROUP,
          scope: "Cluster",
          names: { plural, singular: `moved${code}`, kind: `Moved${code}` },
          versions: [version("v1alpha1", true), version("v1beta1", false)],
          conversion: { strategy: "Webhook", webhook: { clientConfig, conversionReviewVersions: ["v1"] } },
        },
      });
      assert.equal(made.status, 201, JSON.stringify(made.body));
      const object = { apiVersion: `${GROUP}/v1alpha1`, kind: `Moved${code}`, metadata: { name: "a" }, text: SECRET };
      await eventually(
        async () => (await client.call("POST", `/apis/${GROUP}/v1alpha1/${plural}`, object)).status === 201,
      );
      const { status, body } = await client.call("GET", `/apis/${GROUP}/v1beta1/${plural}/a`);
      assert.equal(status, 500, JSON.stringify(body));
      assert.ok(!JSON.stringify(body).includes(SECRET));
    }
    assert.equal(asked, 0);
    assert.deepEqual(
      lines.filter((line) => line.includes(SECRET)),
      [],
    );
  });

  suite("an extension server", () => {
    before(async () => {
      const ports = [{ port: 443 }];
      const made = await client.call("POST", "/api/v1/namespaces/default/services", {
        metadata: { name: "evil" },
        spec: { ports },
      });
      assert.equal(made.status, 201);
      const service = { namespace: "default", name: "evil" };
      const spec = { group: GROUP, version: "v1", groupPriorityMinimum: 100, versionPriority: 10, service };
      const services = "/apis/apiregistration.k8s.io/v1/apiservices";
      const name = `v1.${GROUP}`;
      await client.call("POST", services, { metadata: { name }, spec: { ...spec, caBundle: evil.caBundle } });
      await eventually(
        async () => (await client.call("GET", `${services}/${name}`)).body.status?.conditions?.[0]?.status === "True",
      );
    });

    test("S2, CVE-2022-3172: redirects no client", async () => {
      for (const code of REDIRECTS) {
        const { status, headers, body } = await client.call("GET", `/apis/${GROUP}/v1/${code}`);
        assert.deepEqual([status, headers.location], [502, undefined]);
        assert.ok(!String(body).includes("elsewhere.example"));
      }
    });

    test("S1, CVE-2018-1002105: gets nothing forwarded after it rejected an upgrade", async () => {
      evil.heard.length = 0;
      const headers = {
        authorization: `Bearer ${server.token}`,
        connection: "Upgrade",
        upgrade: "websocket",
        "sec-websocket-key": "x".repeat(16),
        "sec-websocket-version": "13",
      };
      const outgoing = request(`${server.url}/apis/${GROUP}/v1/400`, { headers, rejectUnauthorized: false });
      outgoing.end();
      const [response] = await once(outgoing, "response");
      assert.equal(response.statusCode, 400);
      response.socket.write("GET /second HTTP/1.1\r\nHost: x\r\n\r\n");
      response.resume();
      // Forwarded data would have arrived before this.
      await client.call("GET", `/apis/${GROUP}/v1/302`);
      assert.deepEqual(evil.heard, [`upgrade /apis/${GROUP}/v1/400`, `GET /apis/${GROUP}/v1/302`]);
      response.socket.destroy();
    });

    for (const [name] of Object.entries(ANSWERS)) {
      test(`gives no client the response to another request: ${name}`, async () => {
        const bodies: string[] = [];
        for (let times = 0; times < 5; times++) {
          const first = client.call("GET", `/apis/${GROUP}/v1/${name}`).catch(() => undefined);
          // The next clients may get the same connection to the extension server.
          const next = await client.call("GET", `/apis/${GROUP}/v1/302`);
          assert.equal(next.status, 502, `${name}: ${JSON.stringify(next.body)}`);
          bodies.push(JSON.stringify((await first)?.body ?? ""));
          assert.equal((await client.call("GET", `/apis/${GROUP}/v1/302`)).status, 502);
        }
        assert.ok(!bodies.some((text) => text.includes("smuggled")), bodies.join());
      });
    }

    test("gets one request for each that a client may send", async () => {
      const second = `GET /apis/${GROUP}/v1/second HTTP/1.1\r\nHost: x\r\n\r\n`;
      const credentials = `Host: x\r\nAuthorization: Bearer ${server.token}\r\n`;
      const length = `Content-Length: ${second.length}\r\n`;
      const heads = [
        `POST PATH HTTP/1.1\r\n${credentials}Connection: content-length\r\n${length}\r\n${second}`,
        `GET PATH HTTP/1.1\r\n${credentials}Connection: content-length\r\n${length}\r\n${second}`,
        `DELETE PATH HTTP/1.1\r\n${credentials}${length}\r\n${second}`,
        `POST PATH HTTP/1.1\r\n${credentials}Connection: transfer-encoding\r\nTransfer-Encoding: chunked\r\n\r\n${second.length.toString(16)}\r\n${second}\r\n0\r\n\r\n`,
        `POST PATH HTTP/1.1\r\n${credentials}Transfer-Encoding: chunked\r\n${length}\r\n0\r\n\r\n${second}`,
        `POST PATH HTTP/1.1\r\n${credentials}Transfer-Encoding: xchunked\r\n${length}\r\n${second}`,
        `POST PATH HTTP/1.1\r\n${credentials}Content-Length: 0\r\n${length}\r\n${second}`,
        `POST PATH HTTP/1.1\r\n${credentials}Content-Length : ${second.length}\r\n\r\n${second}`,
        `GET PATH HTTP/1.1\r\n${credentials}X-A: b\r\n Transfer-Encoding: chunked\r\n\r\n${second}`,
        `GET PATH%0d%0aX-Remote-User:%20admin HTTP/1.1\r\n${credentials}\r\n`,
        `POST PATH HTTP/1.1\r\n${credentials}Expect: 100-continue\r\n${length}\r\n${second}`,
      ];
      for (const head of heads) {
        evil.heard.length = 0;
        const isOver = (text: string) => (text.match(/HTTP\/1\.1 [2-5]/g) ?? []).length > 0;
        await sendRaw(server.url, head.replace("PATH", `/apis/${GROUP}/v1/302`), isOver);
        // Whatever was forwarded would have come before this.
        await client.call("GET", `/apis/${GROUP}/v1/303`);
        assert.ok(
          evil.heard.length <= 2 && !evil.heard.some((one) => one.includes("second")),
          `${head}: ${evil.heard}`,
        );
      }
    });
  });
});

/** Sends bytes to a server over TLS, and resolves with the response once `isOver`, or the connection is closed. */
function sendRaw(url: string, bytes: string, isOver: (text: string) => boolean): Promise<string> {
  const { hostname, port } = new URL(url);
  return new Promise((resolve, reject) => {
    const socket = connect({ host: hostname, port: Number(port), rejectUnauthorized: false }, () =>
      socket.write(bytes),
    );
    let text = "";
    socket.on("data", (chunk: Buffer) => {
      text += chunk;
      if (isOver(text)) socket.destroy();
    });
    socket.on("close", () => resolve(text)).on("error", reject);
  });
}

/** JSON replacer that prints errors with their text. */
function errorsToo(_key: string, value: unknown): unknown {
  return value instanceof Error ? `${value.stack} ${JSON.stringify(value)} ${errorsToo("", value.cause)}` : value;
}
