import assert from "node:assert/strict";
import { once } from "node:events";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import type { IncomingMessage } from "node:http";
import { request } from "node:https";
import { tmpdir } from "node:os";
import path from "node:path";
import { after, before, suite, test } from "node:test";
import WebSocket from "ws";
import { startServer } from "../../src/programs/library/start-server.ts";
import type { Server } from "../../src/programs/server/server.ts";
import { placePod } from "../clients/connect-steps.ts";
import { type Client, clientFor } from "../support/client.ts";
import { type KubeletNode, startKubeletNode } from "../support/kubelet-node.ts";
import { eventually } from "../support/time.ts";
import { UPGRADE } from "./connected.ts";

const POD = "/api/v1/namespaces/default/pods/web";
const RBAC = "/apis/rbac.authorization.k8s.io/v1";
const SUBJECT = { apiGroup: "rbac.authorization.k8s.io", kind: "User", name: "reader" };
const EXEC = `${POD}/exec?command=cat&stdin=1&stdout=1`;

for (const isOn of [true, false]) {
  suite(`connections with feature gates ${isOn ? "on" : "off"}`, () => {
    let folder: string;
    let node: KubeletNode;
    let server: Server;
    let admin: Client;

    before(async () => {
      folder = await mkdtemp(path.join(tmpdir(), "binnacle-gates-"));
      const tokenAuthFile = path.join(folder, "tokens.csv");
      await writeFile(tokenAuthFile, "reader-token,reader,reader-uid\n");
      node = await startKubeletNode();
      const featureGates = {
        AuthorizePodWebsocketUpgradeCreatePermission: isOn,
        ExtendWebSocketsToKubelet: isOn,
        PodLogsQuerySplitStreams: isOn,
      };
      server = await startServer({ tokenAuthFile, connect: node.config, featureGates, log: false });
      admin = clientFor(server.url, server.token);
      await placePod(admin, node);
      const status = { declaredFeatures: ["ExtendWebSocketsToKubelet"] };
      const headers = { "content-type": "application/merge-patch+json" };
      assert.equal((await admin.call("PATCH", "/api/v1/nodes/one/status", { status }, headers)).status, 200);
      const rules = [{ apiGroups: [""], resources: ["pods/exec"], verbs: ["get"] }];
      await admin.call("POST", `${RBAC}/clusterroles`, { metadata: { name: "reader" }, rules });
      const roleRef = { apiGroup: "rbac.authorization.k8s.io", kind: "ClusterRole", name: "reader" };
      await admin.call("POST", `${RBAC}/clusterrolebindings`, {
        metadata: { name: "reader" },
        roleRef,
        subjects: [SUBJECT],
      });
      const wanted = { verb: "get", resource: "pods", subresource: "exec", name: "web", namespace: "default" };
      const review = { spec: { user: "reader", resourceAttributes: wanted } };
      await eventually(
        async () =>
          (await admin.call("POST", "/apis/authorization.k8s.io/v1/subjectaccessreviews", review)).body.status.allowed,
      );
    });
    after(async () => {
      await server?.close();
      await node?.stop();
      await rm(folder, { recursive: true, force: true });
    });

    /** The status of the response to a WebSocket's GET: 101 if it is accepted, and then it stays open for a while. */
    async function statusOf(
      token: string,
      whileOpen: () => Promise<unknown> = async () => undefined,
    ): Promise<number | undefined> {
      const headers = { authorization: `Bearer ${token}` };
      const url = `${server.url.replace("https", "wss")}${EXEC}`;
      const socket = new WebSocket(url, ["v5.channel.k8s.io"], { rejectUnauthorized: false, headers });
      socket.on("error", () => undefined);
      const refused = once(socket, "unexpected-response").then(([, answer]) => (answer as IncomingMessage).statusCode);
      const status = await Promise.race([once(socket, "open").then(() => 101), refused]);
      await whileOpen();
      socket.terminate();
      return status;
    }

    test("AuthorizePodWebsocketUpgradeCreatePermission: a user that may only read cannot start an exec by GET", async () => {
      assert.equal(await statusOf("reader-token"), isOn ? 403 : 101);
    });

    test("ExtendWebSocketsToKubelet: forwards the WebSocket to a node that declares support", async () => {
      node.seen.length = 0;
      assert.equal(await statusOf(server.token, () => eventually(() => node.seen.length > 0)), 101);
      assert.deepEqual(
        node.seen.map(({ headers }) => headers.upgrade?.toLowerCase()),
        [isOn ? "websocket" : "spdy/3.1"],
      );
    });

    test("PodLogsQuerySplitStreams: one of two streams may be requested", async () => {
      node.seen.length = 0;
      const { status } = await admin.call("GET", `${POD}/log?stream=Stdout`);
      assert.equal(status, isOn ? 200 : 422);
      assert.deepEqual(
        node.seen.map(({ url }) => new URL(url, "https://node").searchParams.get("stream")),
        isOn ? ["Stdout"] : [],
      );
    });
  });
}

for (const isOn of [true, false]) {
  suite(`WebSockets to a node that may speak only SPDY, with feature gates ${isOn ? "on" : "off"}`, {}, () => {
    let node: KubeletNode;
    let server: Server;

    before(async () => {
      node = await startKubeletNode();
      const featureGates = { TranslateStreamCloseWebsocketRequests: isOn, PortForwardWebsockets: isOn };
      server = await startServer({ connect: node.config, featureGates, log: false });
      await placePod(clientFor(server.url, server.token), node);
    });
    after(async () => {
      await server?.close();
      await node?.stop();
    });

    /** The protocol of the request to the node when a client opened a WebSocket. */
    const asked = async (target: string, protocol: string): Promise<unknown[]> => {
      node.seen.length = 0;
      const authorization = `Bearer ${server.token}`;
      const headers = { ...UPGRADE, authorization, "sec-websocket-protocol": protocol };
      const outgoing = request(`${server.url}${target}`, { rejectUnauthorized: false, headers }).end();
      const [, socket] = await once(outgoing, "upgrade");
      await eventually(() => node.seen.length > 0);
      socket.destroy();
      await eventually(() => node.streams() === 0);
      return node.seen.map((one) => [one.method, one.headers.upgrade?.toLowerCase()]);
    };
    const expected = isOn ? [["POST", "spdy/3.1"]] : [["GET", "websocket"]];

    for (const name of ["exec", "attach"]) {
      test(`TranslateStreamCloseWebsocketRequests: ${name} with v5.channel.k8s.io`, async () => {
        assert.deepEqual(await asked(`${POD}/${name}?command=cat&stdin=1&stdout=1`, "v5.channel.k8s.io"), expected);
      });
    }

    test("PortForwardWebsockets: SPDY in a WebSocket", async () => {
      assert.deepEqual(await asked(`${POD}/portforward`, "SPDY/3.1+portforward.k8s.io"), expected);
    });

    test("other versions are forwarded unchanged", async () => {
      const target = `${POD}/exec?command=cat&stdin=1&stdout=1`;
      assert.deepEqual(await asked(target, "v4.channel.k8s.io"), [["GET", "websocket"]]);
    });

    test("counts streams like kube-apiserver", async () => {
      const { body } = await clientFor(server.url, server.token).call("GET", "/metrics");
      const name = "apiserver_websocket_streaming_requests_total";
      const lines = String(body)
        .split("\n")
        .filter((line) => line.startsWith(name));
      const line = (subresource: string, count: number) =>
        `${name}{proxy_type="translated_at_apiserver",subresource="${subresource}"} ${count}`;
      assert.deepEqual(lines.sort(), isOn ? [line("attach", 1), line("exec", 2), line("portforward", 1)] : []);
    });
  });
}
