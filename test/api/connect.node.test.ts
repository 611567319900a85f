import assert from "node:assert/strict";
import { once } from "node:events";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import type { IncomingMessage } from "node:http";
import { connect as connectHttp2 } from "node:http2";
import { tmpdir } from "node:os";
import path from "node:path";
import type { Duplex } from "node:stream";
import { buffer, text } from "node:stream/consumers";
import { after, before, suite, test } from "node:test";
import { gunzipSync } from "node:zlib";
import { startServer } from "../../src/server/library/start-server.ts";
import type { Server } from "../../src/server/server.ts";
import { placePod } from "../clients/connect-steps.ts";
import { type Client, clientFor } from "../support/client.ts";
import { type EchoApp, type RawApp, startEchoApp, startRawApp } from "../support/echo-app.ts";
import { type KubeletNode, startKubeletNode } from "../support/kubelet-node.ts";
import { eventually } from "../support/time.ts";

const NAMESPACE = "/api/v1/namespaces/default";
const MERGE = { "content-type": "application/merge-patch+json" };

suite("connections with nodes, pods and services", { timeout: 120_000 }, () => {
  let folder: string;
  let node: KubeletNode;
  let app: EchoApp;
  let raw: RawApp;
  let server: Server;
  let admin: Client;

  before(async () => {
    folder = await mkdtemp(path.join(tmpdir(), "binnacle-connect-"));
    const tokenAuthFile = path.join(folder, "tokens.csv");
    await writeFile(tokenAuthFile, "reader-token,reader,reader-uid\n");
    [node, app, raw] = await Promise.all([startKubeletNode(), startEchoApp(), startRawApp()]);
    const connect = { ...node.config, allowProxyTo: ["127.0.0.0/8"] };
    server = await startServer({ tokenAuthFile, connect, log: false, insecurePort: 0 });
    admin = clientFor(server.url, server.token);
    await placePod(admin, node);
    const status = { podIP: "127.0.0.1", podIPs: [{ ip: "127.0.0.1" }] };
    await admin.call("PATCH", `${NAMESPACE}/pods/web/status`, { status }, MERGE);
    await admin.call("POST", `${NAMESPACE}/services`, {
      metadata: { name: "svc" },
      spec: { ports: [{ name: "http", port: 80 }], clusterIP: "None" },
    });
    const slice = await admin.call("POST", "/apis/discovery.k8s.io/v1/namespaces/default/endpointslices", {
      metadata: { name: "svc-1", labels: { "kubernetes.io/service-name": "svc" } },
      addressType: "IPv4",
      ports: [{ name: "http", port: app.port }],
      endpoints: [{ addresses: ["127.0.0.1"], targetRef: { kind: "Pod", namespace: "default", name: "web" } }],
    });
    // Endpoints on loopback are refused when they are written; a pod's own address is not.
    assert.equal(slice.status, 422);
  });
  after(async () => {
    await server?.close();
    await Promise.all([node?.stop(), app?.stop(), raw?.stop()]);
    await rm(folder, { recursive: true, force: true });
  });

  const open = (
    method: string,
    target: string,
    headers: Record<string, string> = {},
    body?: Buffer,
  ): Promise<IncomingMessage & { readonly upgraded?: Duplex }> =>
    new Promise((resolve, reject) => {
      const url = new URL(target, server.url);
      const authorization = `Bearer ${server.token}`;
      const options = { method, headers: { authorization, ...headers }, rejectUnauthorized: false };
      import("node:https").then(({ request }) => {
        const outgoing = request(url, options, resolve);
        outgoing.on("upgrade", (response, socket) => resolve(Object.assign(response, { upgraded: socket })));
        outgoing.on("error", reject);
        outgoing.end(body);
      }, reject);
    });
  const pod = () => `${NAMESPACE}/pods/web:${app.port}/proxy`;
  const UPGRADE = {
    connection: "Upgrade",
    upgrade: "websocket",
    "sec-websocket-key": "x".repeat(16),
    "sec-websocket-version": "13",
  };

  suite("every connect operation of the specification", () => {
    const proxies = ["Delete", "Get", "Head", "Options", "Patch", "Post", "Put"].flatMap((method) =>
      ["NamespacedPodProxy", "NodeProxy"].flatMap((target) =>
        ["", "WithPath"].map((suffix) => ({ id: `connect${method}${target}${suffix}`, method, target, suffix })),
      ),
    );
    for (const { id, method, target, suffix } of proxies) {
      test(id, async () => {
        const root = target === "NodeProxy" ? "/api/v1/nodes/one/proxy" : pod();
        const seen = target === "NodeProxy" ? node.seen : app.seen;
        seen.length = 0;
        const response = await open(method.toUpperCase(), `${root}${suffix === "" ? "/" : "/a/b"}?x=1`);
        response.resume();
        assert.equal(response.statusCode, 200);
        const url = suffix === "" ? "/?x=1" : "/a/b?x=1";
        assert.deepEqual(
          seen.map((one) => [one.method, one.url]),
          [[method.toUpperCase(), url]],
        );
      });
    }

    const services = ["Delete", "Get", "Head", "Options", "Patch", "Post", "Put"].flatMap((method) =>
      ["", "WithPath"].map((suffix) => ({ id: `connect${method}NamespacedServiceProxy${suffix}`, method, suffix })),
    );
    for (const { id, method, suffix } of services) {
      test(`${id}: nobody is behind it`, async () => {
        const response = await open(
          method.toUpperCase(),
          `${NAMESPACE}/services/svc:http/proxy${suffix === "" ? "" : "/a"}`,
        );
        const told = await text(response);
        assert.equal(response.statusCode, 503);
        if (method !== "Head") assert.match(told, /no endpoints available for service \\"svc\\"/);
      });
    }

    for (const method of ["Get", "Post"]) {
      for (const [name, query] of [
        ["Attach", "stdout=1"],
        ["Exec", "stdout=1&command=true"],
        ["Portforward", ""],
      ] as const) {
        test(`connect${method}NamespacedPod${name}`, async () => {
          node.seen.length = 0;
          const isPorts = name === "Portforward";
          const versions = isPorts ? "portforward.k8s.io" : "v4.channel.k8s.io";
          const headers = { connection: "Upgrade", upgrade: "SPDY/3.1", "x-stream-protocol-version": versions };
          const target = `${NAMESPACE}/pods/web/${name.toLowerCase()}?${query}`;
          const response = await open(method.toUpperCase(), target, headers);
          assert.equal(response.statusCode, 101);
          assert.equal(response.headers["x-stream-protocol-version"], versions);
          response.upgraded?.destroy();
          assert.equal(node.seen[0]?.method, method.toUpperCase());
          await eventually(() => node.streams() === 0);
        });
        test(`connect${method}NamespacedPod${name}: not without an upgrade`, async () => {
          const { status, body } = await admin.call(
            method.toUpperCase(),
            `${NAMESPACE}/pods/web/${name.toLowerCase()}?${query}`,
          );
          assert.deepEqual([status, body.message], [400, "Upgrade request required"]);
        });
      }
    }

    test("readNamespacedPodLog: all options reach the node", async () => {
      node.seen.length = 0;
      const query =
        "follow=false&previous=true&timestamps=true&sinceSeconds=5&tailLines=1&limitBytes=100&container=main";
      const { status, body } = await admin.call("GET", `${NAMESPACE}/pods/web/log?${query}`);
      assert.deepEqual([status, body], [200, "2026-01-02T03:04:05.000000006Z three\n"]);
      const url =
        "/containerLogs/default/web/main?limitBytes=100&previous=true&sinceSeconds=5&tailLines=1&timestamps=true";
      assert.equal(node.seen[0]?.url, url);
    });

    test("dryRun is refused", async () => {
      const { status, body } = await admin.call("POST", `${NAMESPACE}/pods/web/exec?dryRun=All`);
      assert.deepEqual([status, body.message], [400, "dryRun is not supported"]);
    });
  });

  suite("a proxy", () => {
    test("sends who has no path behind a slash", async () => {
      const { status, headers } = await admin.call("GET", `${pod()}?a=b`);
      assert.deepEqual([status, headers.location], [301, `${pod()}/?a=b`]);
    });

    test("tells where requests come from, and passes on no credentials", async () => {
      app.seen.length = 0;
      await admin.call("GET", `${pod()}/a%20b`, undefined, {
        "x-remote-user": "root",
        "x-forwarded-for": "10.1.2.3",
        "x-own": "kept",
        connection: "x-hop",
        "x-hop": "dropped",
      });
      const { headers = {}, url } = app.seen[0] as (typeof app.seen)[0];
      assert.equal(url, "/a%20b");
      assert.equal(headers["x-forwarded-uri"], `${pod()}/a%20b`);
      assert.match(String(headers["x-forwarded-for"]), /^10\.1\.2\.3, .*127\.0\.0\.1$/);
      const { authorization, "x-remote-user": user, "x-hop": hop, "x-own": own } = headers;
      assert.deepEqual([authorization, user, hop, own], [undefined, undefined, undefined, "kept"]);
    });

    test("has links and Location lead through it again", async () => {
      const page = `<html><head><link href="${pod()}/style.css"></head><a href="${pod()}/x">x</a> <a href="y">y</a></html>`;
      assert.equal((await admin.call("GET", `${pod()}/page`)).body, page);
      const packed = await open("GET", `${pod()}/packed`);
      assert.equal(gunzipSync(await buffer(packed)).toString(), page);
      assert.equal((await admin.call("GET", `${pod()}/moved`)).headers.location, `${pod()}/here?a=b`);
      assert.equal((await admin.call("GET", `${pod()}/away`)).headers.location, "https://away.example/x");
    });

    test("keeps cookies apart, and drops CORS headers", async () => {
      const { headers } = await admin.call("GET", `${pod()}/cookies`);
      assert.deepEqual(headers["set-cookie"], ["a=1", "b=2"]);
      assert.equal(headers["access-control-allow-origin"], undefined);
    });

    test("streams bodies both ways", async () => {
      const sent = Buffer.alloc(5_000_000, "x");
      const chunked = await open("POST", `${pod()}/echo`, { "transfer-encoding": "chunked" }, sent);
      assert.ok((await buffer(chunked)).equals(sent));
    });

    test("answers HTTP/2 as well", async () => {
      const session = connectHttp2(server.url, { rejectUnauthorized: false });
      const ask = async (method: string, body?: string) => {
        const authorization = `Bearer ${server.token}`;
        const stream = session.request(
          { ":method": method, ":path": `${pod()}/echo`, authorization },
          { endStream: false },
        );
        stream.end(body);
        const [headers] = await once(stream, "response");
        return [headers[":status"], await text(stream)];
      };
      assert.deepEqual(await ask("POST", "hello"), [200, "hello"]);
      assert.deepEqual(await ask("GET", "a body of a GET"), [200, "a body of a GET"]);
      assert.deepEqual(await ask("HEAD"), [200, ""]);
      session.close();
    });

    test("connects upgrades", async () => {
      const { upgraded, statusCode } = await open("GET", `${pod()}/socket`, UPGRADE);
      assert.equal(statusCode, 101);
      upgraded?.write("hello");
      const [heard] = await once(upgraded as Duplex, "data");
      assert.equal(String(heard), "hello");
      upgraded?.destroy();
    });

    test("says who cannot be reached", async () => {
      const { status, body } = await admin.call("GET", `${NAMESPACE}/pods/web:1/proxy/`);
      const message = "error trying to reach service: dial tcp 127.0.0.1:1: connect: connection refused";
      assert.deepEqual([status, body.message, body.reason], [503, message, "ServiceUnavailable"]);
    });

    test("refuses names that are none", async () => {
      for (const name of ["ftp:web:80", "a:b:c:d", ":web", "web:70000", "web:x"]) {
        const { status, body } = await admin.call("GET", `${NAMESPACE}/pods/${name}/proxy/`);
        assert.deepEqual([status, body.message], [400, `invalid pod request "${name}"`], name);
      }
    });
  });

  suite("attacks", () => {
    const rawPod = () => `${NAMESPACE}/pods/web:${raw.port}/proxy`;
    const answers: readonly (readonly [what: string, answer: string, status: number])[] = [
      ["refuses with 403", "HTTP/1.1 403 Forbidden\r\nContent-Length: 2\r\n\r\nno", 403],
      ["answers 200", "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok", 500],
      ["redirects", "HTTP/1.1 302 Found\r\nLocation: https://evil.example/\r\nContent-Length: 0\r\n\r\n", 500],
      ["answers with what is no HTTP", "nonsense\r\n\r\n", 500],
      [
        "changes to another protocol",
        "HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: h2c\r\n\r\n",
        500,
      ],
    ];
    for (const [what, answer, status] of answers) {
      test(`S1, CVE-2018-1002105: nothing is forwarded by an upgrade that a backend ${what}`, async () => {
        raw.received.length = 0;
        raw.answer = answer;
        const response = await open("GET", `${rawPod()}/`, UPGRADE);
        assert.equal(response.statusCode, status);
        // What would have been a second request with the server's credentials.
        response.socket.write("GET /second HTTP/1.1\r\nHost: x\r\n\r\n");
        response.resume();
        await once(response.socket, "close");
        await eventually(() => raw.open() === 0);
        assert.equal(raw.received.length, 1);
        assert.ok(!raw.received.join("").includes("/second"));
      });
    }

    test("S1: an upgrade to anything but WebSocket and SPDY is no upgrade", async () => {
      app.seen.length = 0;
      const response = await open("GET", `${pod()}/x`, {
        connection: "Upgrade, HTTP2-Settings",
        upgrade: "h2c",
        "http2-settings": "",
      });
      response.resume();
      assert.equal(response.statusCode, 200);
      assert.equal(app.seen[0]?.headers.upgrade, undefined);
    });

    test("S1: a body that has no length is no second request", async () => {
      raw.received.length = 0;
      raw.answer = "HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n";
      const smuggled = Buffer.from("GET /second HTTP/1.1\r\nHost: x\r\n\r\n");
      (await open("GET", `${rawPod()}/first`, { "transfer-encoding": "chunked" }, smuggled)).resume();
      const sent = raw.received.join("");
      assert.match(sent, /^GET \/first HTTP\/1\.1\r\n/);
      assert.match(sent, /transfer-encoding: chunked\r\n/i);
      assert.match(sent, /\r\n\r\n21\r\nGET \/second/);
    });

    test("S2, CVE-2018-1002102 and CVE-2020-8559: a kubelet sends nobody elsewhere", async () => {
      const elsewhere = { code: 302, headers: { location: "https://evil.example/" }, body: "" };
      node.refuse = () => elsewhere;
      try {
        const log = await admin.call("GET", `${NAMESPACE}/pods/web/log`);
        assert.deepEqual([log.status, log.headers.location], [500, undefined]);
        assert.match(log.body.message, /redirects forbidden/);
        const headers = {
          connection: "Upgrade",
          upgrade: "SPDY/3.1",
          "x-stream-protocol-version": "v4.channel.k8s.io",
        };
        const exec = await open("POST", `${NAMESPACE}/pods/web/exec?command=ls&stdout=1`, headers);
        assert.deepEqual([exec.statusCode, exec.headers.location], [500, undefined]);
        assert.match(await text(exec), /invalid upgrade response: status code 302/);
        const proxied = await admin.call("GET", "/api/v1/nodes/one/proxy/elsewhere");
        assert.deepEqual([proxied.status, proxied.headers.location], [502, undefined]);
      } finally {
        node.refuse = undefined;
      }
    });

    test("S4, CVE-2020-8562 and CVE-2022-3294: forbidden addresses, however an object names them", async () => {
      const closed = await startServer({ connect: { ...node.config }, log: false });
      const client = clientFor(closed.url, closed.token);
      try {
        await placePod(client, node);
        for (const address of ["127.0.0.1", "169.254.169.254", "::1", "fd00:ec2::254", "0.0.0.0"]) {
          const status = { podIP: address, podIPs: [{ ip: address }] };
          await client.call("PATCH", `${NAMESPACE}/pods/web/status`, { status }, MERGE);
          const { status: code, body } = await client.call("GET", `${NAMESPACE}/pods/web:80/proxy/`);
          assert.deepEqual([code, body.message], [400, "address not allowed"], address);
        }
        for (const address of ["127.0.0.1", "localhost", "169.254.169.254"]) {
          const patch = { status: { addresses: [{ type: "Hostname", address }] } };
          await client.call("PATCH", "/api/v1/nodes/one/status", patch, MERGE);
          const { status: code, body } = await client.call("GET", "/api/v1/nodes/one/proxy/");
          assert.deepEqual([code, body.message], [400, "address not allowed"], address);
        }
        const { status: code } = await client.call("GET", `${NAMESPACE}/pods/web/log`);
        assert.equal(code, 400, "the node is a metadata service");
      } finally {
        await closed.close();
      }
    });

    test("S21: who may only read opens no stream", async () => {
      const rules = [
        { apiGroups: [""], resources: ["pods/exec", "pods/attach", "pods/portforward", "nodes"], verbs: ["get"] },
        { apiGroups: [""], resources: ["pods/log"], verbs: ["create"] },
      ];
      const rbac = "/apis/rbac.authorization.k8s.io/v1";
      await admin.call("POST", `${rbac}/clusterroles`, { metadata: { name: "reader" }, rules });
      await admin.call("POST", `${rbac}/clusterrolebindings`, {
        metadata: { name: "reader" },
        roleRef: { apiGroup: "rbac.authorization.k8s.io", kind: "ClusterRole", name: "reader" },
        subjects: [{ apiGroup: "rbac.authorization.k8s.io", kind: "User", name: "reader" }],
      });
      const reader = { authorization: "Bearer reader-token" };
      for (const name of ["exec", "attach", "portforward"]) {
        const protocols = { "sec-websocket-protocol": "v5.channel.k8s.io" };
        const target = `${NAMESPACE}/pods/web/${name}?command=ls&stdout=1`;
        await eventually(async () => {
          const response = await open("GET", target, { ...UPGRADE, ...protocols, ...reader });
          return (
            response.statusCode === 403 && JSON.parse(await text(response)).message === 'pods "web" is forbidden: '
          );
        });
        assert.equal((await open("POST", target, reader)).statusCode, 403);
      }
      for (const [method, target] of [
        ["GET", `${NAMESPACE}/pods/web/log`],
        ["GET", "/api/v1/nodes/one/proxy/containerLogs/default/web/main"],
        ["POST", "/api/v1/nodes/one/proxy/exec/default/web/main"],
      ] as const) {
        assert.equal((await open(method, target, reader)).statusCode, 403, target);
      }
    });
  });

  test("a node that dies, and a client that leaves, leave nothing behind", async () => {
    const headers = { connection: "Upgrade", upgrade: "SPDY/3.1", "x-stream-protocol-version": "v4.channel.k8s.io" };
    const exec = () => open("POST", `${NAMESPACE}/pods/web/exec?command=cat&stdin=1&stdout=1`, headers);
    const [one, other] = await Promise.all([exec(), exec()]);
    assert.equal(node.streams(), 2);
    one.upgraded?.destroy();
    await eventually(() => node.streams() === 1);
    const closed = once(other.upgraded as Duplex, "close");
    node.cut();
    await closed;
  });
});
