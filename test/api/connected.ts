import assert from "node:assert/strict";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import type { IncomingMessage } from "node:http";
import { request } from "node:https";
import { tmpdir } from "node:os";
import path from "node:path";
import type { Duplex } from "node:stream";
import { startServer } from "../../src/programs/library/start-server.ts";
import type { Server } from "../../src/programs/server/server.ts";
import { placePod } from "../clients/connect-steps.ts";
import { type Client, clientFor } from "../support/client.ts";
import { type EchoApp, startEchoApp } from "../support/echo-app.ts";
import { type KubeletNode, startKubeletNode } from "../support/kubelet-node.ts";

/** The namespace of the pod `web` and the service `svc` of a `Connected`. */
export const NAMESPACE = "/api/v1/namespaces/default";
/** The header of a merge patch. */
export const MERGE = { "content-type": "application/merge-patch+json" };
/** The headers of a WebSocket request. */
export const UPGRADE = {
  connection: "Upgrade",
  upgrade: "websocket",
  "sec-websocket-key": "dGhlIHNhbXBsZSBub25jZQ==",
  "sec-websocket-version": "13",
};

/** A response, with the connection if the server has switched protocols. */
export type Opened = IncomingMessage & { readonly upgraded?: Duplex };

/** A server in this process with a node, the pod `web` on it, and a program behind the pod and the service `svc`. */
export interface Connected extends AsyncDisposable {
  readonly server: Server;
  readonly admin: Client;
  readonly node: KubeletNode;
  readonly app: EchoApp;
  /** The proxy path of the program's port. */
  readonly proxy: string;
  /** Sends a request as the administrator, and waits for the response headers. */
  open(method: string, target: string, headers?: Record<string, string>, body?: Buffer): Promise<Opened>;
}

/** Starts a Connected. `reader-token` is the token of the user `reader`, who has no permissions yet. */
export async function startConnected(): Promise<Connected> {
  const opened = new AsyncDisposableStack();
  try {
    const folder = await mkdtemp(path.join(tmpdir(), "binnacle-connect-"));
    opened.defer(() => rm(folder, { recursive: true, force: true }));
    const tokenAuthFile = path.join(folder, "tokens.csv");
    await writeFile(tokenAuthFile, "reader-token,reader,reader-uid\n");
    const node = await startKubeletNode();
    opened.defer(() => node.stop());
    const app = await startEchoApp();
    opened.defer(() => app.stop());
    const handlers = {
      service: ({ metadata }: { metadata: { name?: string } }, port: string) =>
        metadata.name === "local" && port === "http" ? { port: app.port } : undefined,
    };
    const connect = { ...node.config, allowProxyTo: ["127.0.0.0/8"], handlers };
    const server = await startServer({ tokenAuthFile, connect, log: false, insecurePort: 0 });
    opened.defer(() => server.close());
    const admin = clientFor(server.url, server.token);
    await placePod(admin, node);
    const status = { podIP: "127.0.0.1", podIPs: [{ ip: "127.0.0.1" }] };
    await admin.call("PATCH", `${NAMESPACE}/pods/web/status`, { status }, MERGE);
    for (const name of ["svc", "local"]) {
      const spec = { ports: [{ name: "http", port: 80 }], clusterIP: "None" };
      const made = await admin.call("POST", `${NAMESPACE}/services`, { metadata: { name }, spec });
      assert.equal(made.status, 201, JSON.stringify(made.body));
    }
    return {
      server,
      admin,
      node,
      app,
      proxy: `${NAMESPACE}/pods/web:${app.port}/proxy`,
      open: (method, target, headers, body) => open(server, method, target, headers, body),
      [Symbol.asyncDispose]: () => opened.disposeAsync(),
    };
  } catch (error) {
    await opened.disposeAsync();
    throw error;
  }
}

function open(
  { url, token }: Pick<Server, "url" | "token">,
  method: string,
  target: string,
  headers: Record<string, string> = {},
  body?: Buffer,
): Promise<Opened> {
  return new Promise((resolve, reject) => {
    const options = { method, headers: { authorization: `Bearer ${token}`, ...headers }, rejectUnauthorized: false };
    const outgoing = request(new URL(target, url), options, resolve);
    outgoing.on("upgrade", (response, socket) => resolve(Object.assign(response, { upgraded: socket })));
    outgoing.on("error", reject);
    outgoing.end(body);
  });
}
