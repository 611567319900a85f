import assert from "node:assert/strict";
import { once } from "node:events";
import { text } from "node:stream/consumers";
import { after, before, suite, test } from "node:test";
import WebSocket from "ws";
import { startServer } from "../../src/programs/library/start-server.ts";
import { placePod } from "../clients/connect-steps.ts";
import { type Client, clientFor } from "../support/client.ts";
import { type RawApp, startRawApp } from "../support/echo-app.ts";
import { eventually } from "../support/time.ts";
import { type Connected, MERGE, NAMESPACE, startConnected, UPGRADE } from "./connected.ts";

const SPDY = { connection: "Upgrade", upgrade: "SPDY/3.1", "x-stream-protocol-version": "v4.channel.k8s.io" };
const withProtocol = (name: string) => ({ ...UPGRADE, "sec-websocket-protocol": name });
const REDIRECTS = [301, 302, 303, 307, 308];
const EVIL = "https://evil.example/";

/** Responses of backends to an upgrade, and the status for the client. */
const ANSWERS: readonly (readonly [what: string, answer: string, status: number])[] = [
  ["refuses with 403", "HTTP/1.1 403 Forbidden\r\nContent-Length: 2\r\n\r\nno", 403],
  ["refuses with 500", "HTTP/1.1 500 Internal Server Error\r\nContent-Length: 2\r\n\r\nno", 500],
  ["answers 200", "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok", 500],
  ["redirects", `HTTP/1.1 302 Found\r\nLocation: ${EVIL}\r\nContent-Length: 0\r\n\r\n`, 500],
  ["answers with what is no HTTP", "nonsense\r\n\r\n", 500],
  [
    "changes to another protocol",
    "HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: h2c\r\n\r\n",
    500,
  ],
];

// docs/connect.md lists these attacks.
suite("attacks by way of connections", () => {
  let connected: Connected;
  let raw: RawApp;

  before(async () => {
    [connected, raw] = await Promise.all([startConnected(), startRawApp()]);
  });
  after(async () => {
    await connected?.[Symbol.asyncDispose]();
    await raw?.stop();
  });
  const rawPod = () => `${NAMESPACE}/pods/web:${raw.port}/proxy`;

  for (const [what, answer, status] of ANSWERS) {
    test(`S1, CVE-2018-1002105: forwards nothing after an upgrade that a backend ${what}`, async () => {
      raw.received.length = 0;
      raw.answer = answer;
      const response = await connected.open("GET", `${rawPod()}/`, UPGRADE);
      assert.equal(response.statusCode, status);
      // This would be a second request with the server's credentials.
      response.socket.write("GET /second HTTP/1.1\r\nHost: x\r\n\r\n");
      response.resume();
      await once(response.socket, "close");
      await eventually(() => raw.open() === 0);
      assert.equal(raw.received.length, 1);
      assert.ok(!raw.received.join("").includes("/second"));
    });
  }

  test("S1, CVE-2018-1002105: forwards nothing to a kubelet that rejects a stream", async () => {
    const { node } = connected;
    node.refuse = () => ({ code: 400, body: "no" });
    try {
      for (const name of ["exec", "attach", "portforward"]) {
        node.seen.length = 0;
        const response = await connected.open("POST", `${NAMESPACE}/pods/web/${name}?command=ls&stdout=1`, SPDY);
        assert.equal(response.statusCode, 400);
        response.socket.write("POST /run/default/web/main HTTP/1.1\r\nHost: x\r\nContent-Length: 0\r\n\r\n");
        response.resume();
        await once(response.socket, "close");
        await eventually(() => node.streams() === 0);
        assert.equal(node.seen.length, 1, name);
      }
    } finally {
      node.refuse = undefined;
    }
  });

  test("S1, kubernetes#72112: an upgrade to anything but WebSocket and SPDY is not an upgrade", async () => {
    const { app } = connected;
    for (const upgrade of ["h2c", "TLS/1.0", "SPDY/2", "websocket2", "h2c, websocket"]) {
      app.seen.length = 0;
      const connection = "Upgrade, HTTP2-Settings";
      const response = await connected.open("GET", `${connected.proxy}/x`, {
        ...{ connection, upgrade, "http2-settings": "" },
      });
      response.resume();
      assert.equal(response.statusCode, 200, upgrade);
      assert.equal(app.seen[0]?.headers.upgrade, undefined, upgrade);
    }
  });

  test("S1: a body without a length is not a second request", async () => {
    raw.received.length = 0;
    raw.answer = "HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n";
    const smuggled = Buffer.from("GET /second HTTP/1.1\r\nHost: x\r\n\r\n");
    (await connected.open("GET", `${rawPod()}/first`, { "transfer-encoding": "chunked" }, smuggled)).resume();
    const sent = raw.received.join("");
    assert.match(sent, /^GET \/first HTTP\/1\.1\r\n/);
    assert.match(sent, /transfer-encoding: chunked\r\n/i);
    assert.match(sent, /\r\n\r\n21\r\nGET \/second/);
  });

  suite("a kubelet that redirects", () => {
    let code = 302;
    before(() => {
      connected.node.refuse = () => ({ code, headers: { location: EVIL }, body: "" });
    });
    after(() => {
      connected.node.refuse = undefined;
    });

    test("S2, CVE-2018-1002102: is not followed for a log", async () => {
      for (code of REDIRECTS) {
        const { status, headers, body } = await connected.admin.call("GET", `${NAMESPACE}/pods/web/log`);
        assert.deepEqual([status, headers.location], [500, undefined]);
        assert.equal(body.message, `Get "${EVIL}": redirects forbidden`);
      }
    });

    for (const name of ["exec", "attach", "portforward"]) {
      test(`S2, CVE-2018-1002102 and CVE-2020-8559: is neither followed nor passed on for ${name}`, async () => {
        const target = `${NAMESPACE}/pods/web/${name}?command=ls&stdout=1`;
        for (code of REDIRECTS) {
          const response = await connected.open("POST", target, SPDY);
          assert.deepEqual([response.statusCode, response.headers.location], [500, undefined]);
          assert.match(await text(response), new RegExp(`invalid upgrade response: status code ${code}`));
        }
      });
    }

    /** All messages of a WebSocket that the server translates for the node. */
    const translated = async (): Promise<string> => {
      const { url, token } = connected.server;
      const target = `${url.replace("https", "wss")}${NAMESPACE}/pods/web/exec?command=ls&stdout=1`;
      const headers = { authorization: `Bearer ${token}` };
      const socket = new WebSocket(target, ["v5.channel.k8s.io"], { rejectUnauthorized: false, headers });
      let received = "";
      socket.on("message", (message: Buffer) => {
        received += message.toString();
      });
      await once(socket, "close");
      return received;
    };

    test("S2, CVE-2020-8559: nor for tunnelled or translated WebSockets", async () => {
      for (code of REDIRECTS) {
        const tunnelled = withProtocol("SPDY/3.1+portforward.k8s.io");
        const response = await connected.open("GET", `${NAMESPACE}/pods/web/portforward`, tunnelled);
        assert.deepEqual([response.statusCode, response.headers.location], [500, undefined]);
        response.resume();
        const received = await translated();
        assert.match(received, /redirect not allowed/);
        assert.ok(!received.includes("evil.example"));
      }
    });

    test("S2, CVE-2020-8559: nor by nodes/proxy", async () => {
      for (code of REDIRECTS) {
        const plain = await connected.admin.call("GET", "/api/v1/nodes/one/proxy/elsewhere");
        assert.deepEqual([plain.status, plain.headers.location], [502, undefined]);
        const upgraded = await connected.open("GET", "/api/v1/nodes/one/proxy/exec/default/web/main", UPGRADE);
        assert.deepEqual([upgraded.statusCode, upgraded.headers.location], [500, undefined]);
        upgraded.resume();
      }
    });
  });

  suite("forbidden addresses", () => {
    let closed: Awaited<ReturnType<typeof startServer>>;
    let client: Client;
    const METADATA = ["169.254.169.254", "100.100.100.200", "fd00:ec2::254"];
    before(async () => {
      // A server without allowed addresses, listening on all addresses of this machine.
      closed = await startServer({ connect: { ...connected.node.config }, log: false });
      client = clientFor(closed.url, closed.token);
      await placePod(client, connected.node);
    });
    after(() => closed?.close());
    const moveNode = async (address: string, port?: number, type = "Hostname") => {
      const daemonEndpoints = port === undefined ? {} : { daemonEndpoints: { kubeletEndpoint: { Port: port } } };
      const patch = { status: { addresses: [{ type, address }], ...daemonEndpoints } };
      assert.equal((await client.call("PATCH", "/api/v1/nodes/one/status", patch, MERGE)).status, 200);
    };
    const movePod = async (address: string) => {
      const status = { podIP: address, podIPs: [{ ip: address }] };
      assert.equal((await client.call("PATCH", `${NAMESPACE}/pods/web/status`, { status }, MERGE)).status, 200);
    };
    const assertRefused = async (target: string, why: string, headers?: Record<string, string>) => {
      const { status, body } = await client.call("GET", target, undefined, headers);
      assert.deepEqual([status, body.message], [400, "address not allowed"], `${why} by ${target}`);
    };

    test("S4, CVE-2020-8562: of a pod", async () => {
      for (const address of ["127.0.0.1", "::1", "0.0.0.0", "fe80::1", ...METADATA]) {
        await movePod(address);
        for (const name of ["web", "web:80", "https:web:443"]) {
          await assertRefused(`${NAMESPACE}/pods/${name}/proxy/`, address);
        }
      }
    });

    test("S4, CVE-2020-8562: of an endpoint of a service", async () => {
      const spec = { ports: [{ name: "http", port: 80 }], clusterIP: "None" };
      await client.call("POST", `${NAMESPACE}/services`, { metadata: { name: "svc" }, spec });
      const [, address = ""] = METADATA;
      await movePod(address);
      const slice = (one: string) => ({
        metadata: { name: "svc-1", labels: { "kubernetes.io/service-name": "svc" } },
        addressType: "IPv4",
        ports: [{ name: "http", port: 80 }],
        endpoints: [{ addresses: [one], targetRef: { kind: "Pod", namespace: "default", name: "web" } }],
      });
      const slices = "/apis/discovery.k8s.io/v1/namespaces/default/endpointslices";
      for (const one of ["127.0.0.1", "169.254.169.254"]) {
        assert.equal((await client.call("POST", slices, slice(one))).status, 422, "refused when it is written");
      }
      assert.equal((await client.call("POST", slices, slice(address))).status, 201);
      await assertRefused(`${NAMESPACE}/services/svc:http/proxy/`, address);
    });

    test("S4, CVE-2022-3294: of a node, with any name and port in the request", async () => {
      const { port } = connected.node;
      for (const address of ["127.0.0.1", "localhost", ...METADATA]) {
        await moveNode(address);
        for (const name of ["one", `one:${port}`, `https:one:${port}`, "one:80", "http:one:80", "https:one:443"]) {
          await assertRefused(`/api/v1/nodes/${name}/proxy/`, address);
        }
      }
      for (const name of ["log?", "exec?command=ls&stdout=1&", "attach?stdout=1&", "portforward?"]) {
        const response = await client.call("GET", `${NAMESPACE}/pods/web/${name}x=1`);
        assert.equal(response.status, 400, `${name}: the node is a metadata service`);
      }
    });

    test("S4, kubernetes#119270: of this server itself, which would get its own certificate", async () => {
      const own = await startServer({
        connect: { ...connected.node.config, allowProxyTo: ["127.0.0.0/8"] },
        log: false,
      });
      try {
        client = clientFor(own.url, own.token);
        await placePod(client, connected.node);
        for (const address of ["127.0.0.1", "localhost"]) {
          await moveNode(address, Number(new URL(own.url).port));
          await assertRefused("/api/v1/nodes/one/proxy/api/v1/secrets", address);
        }
        await moveNode("127.0.0.1", connected.node.port);
        assert.equal((await client.call("GET", "/api/v1/nodes/one/proxy/healthz")).status, 200);
      } finally {
        client = clientFor(closed.url, closed.token);
        await own.close();
      }
    });
  });

  test("S21: a user that may only read opens no stream", async () => {
    const { admin } = connected;
    const streams = ["pods/exec", "pods/attach", "pods/portforward", "nodes", "nodes/proxy"];
    const rules = [
      { apiGroups: [""], resources: streams, verbs: ["get"] },
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
    // From here on the role is known.
    await eventually(async () => {
      const response = await connected.open("GET", "/api/v1/nodes/one/proxy/healthz", reader);
      response.resume();
      return response.statusCode === 200;
    });
    connected.node.seen.length = 0;
    for (const name of ["exec", "attach", "portforward"]) {
      const target = `${NAMESPACE}/pods/web/${name}?command=ls&stdout=1`;
      for (const headers of [withProtocol("v5.channel.k8s.io"), withProtocol("v4.channel.k8s.io"), SPDY]) {
        const response = await connected.open("GET", target, { ...headers, ...reader });
        assert.equal(response.statusCode, 403, target);
        assert.equal(JSON.parse(await text(response)).message, 'pods "web" is forbidden: ');
      }
      assert.equal((await connected.open("POST", target, reader)).statusCode, 403);
    }
    for (const [method, target, headers] of [
      ["GET", `${NAMESPACE}/pods/web/log`, {}],
      ["POST", "/api/v1/nodes/one/proxy/run/default/web/main", {}],
      ["GET", "/api/v1/nodes/one/proxy/exec/default/web/main?command=ls&output=1", UPGRADE],
      ["GET", "/api/v1/nodes/one/proxy/attach/default/web/main?output=1", SPDY],
      ["GET", "/api/v1/nodes/one/proxy/portForward/default/web", withProtocol("v4.channel.k8s.io")],
    ] as const) {
      const response = await connected.open(method, target, { ...headers, ...reader });
      assert.equal(response.statusCode, 403, target);
      response.resume();
    }
    assert.deepEqual(connected.node.seen, []);
  });
});
