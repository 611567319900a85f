import { createHash } from "node:crypto";
import type { IncomingMessage, ServerResponse } from "node:http";
import { createServer, type Server } from "node:https";
import type { AddressInfo } from "node:net";
import type { TLSSocket } from "node:tls";
import { makeCa, makeIdentity } from "../../src/base/pki/make-certificate.ts";

/** The group that the server serves. */
export const EXTENSION_GROUP = "metrics.example.com";

const NODES = ["node-a", "node-b"];
const root = `/apis/${EXTENSION_GROUP}/v1`;
const node = (name: string) => ({
  apiVersion: `${EXTENSION_GROUP}/v1`,
  kind: "NodeMetrics",
  metadata: { name, resourceVersion: "1" },
  usage: { cpu: "100m" },
});

const OBJECT_META = "io.k8s.apimachinery.pkg.apis.meta.v1.ObjectMeta";
const read = (schema: string) => ({
  get: {
    operationId: `read${schema}`,
    responses: { 200: { description: "OK", schema: { $ref: `#/definitions/${schema}` } } },
  },
  parameters: [{ $ref: "#/parameters/pretty-tJGM1-ng" }],
});

/**
 * Its OpenAPI v2 document: with a definition and a parameter whose names kube-apiserver also has, and a path that is
 * not its own.
 */
export const EXTENSION_SWAGGER = {
  swagger: "2.0",
  info: { title: "extension", version: "v1" },
  paths: {
    [`${root}/nodes`]: read("com.example.NodeMetrics"),
    "/apis/other.example.com/v1/x": read("com.example.Other"),
  },
  definitions: {
    "com.example.NodeMetrics": {
      type: "object",
      properties: {
        metadata: { $ref: `#/definitions/${OBJECT_META}` },
        usage: { type: "object", additionalProperties: { type: "string" } },
      },
      "x-kubernetes-group-version-kind": [{ group: EXTENSION_GROUP, version: "v1", kind: "NodeMetrics" }],
    },
    "com.example.Other": { type: "object" },
    [OBJECT_META]: { type: "object", description: "not that of kube-apiserver" },
  },
  parameters: { "pretty-tJGM1-ng": { name: "pretty", in: "query", type: "boolean" } },
};

/** A small extension API server, similar to metrics-server. */
export interface ExtensionServer {
  readonly port: number;
  /** `spec.caBundle` of its APIService. */
  readonly caBundle: string;
  /** The front-proxy client certificate it trusts, for the `--proxy-client-*` flags. */
  readonly proxy: { readonly cert: string; readonly key: string };
  /** Headers of requests from trusted servers, newest last. */
  readonly seen: { readonly url: string; readonly headers: IncomingMessage["headers"] }[];
  stop(): Promise<void>;
}

/**
 * Starts the server on loopback, on the given port or a free one, for a Service of that name in the namespace default.
 */
export async function startExtensionServer(service: string, port = 0): Promise<ExtensionServer> {
  const now = Date.now();
  const authority = makeCa("extension", now);
  const name = `${service}.default.svc`;
  const own = makeIdentity(authority, { commonName: name, hosts: [name] }, "server", now);
  const proxy = makeIdentity(authority, { commonName: "front-proxy" }, "client", now);
  const seen: { url: string; headers: IncomingMessage["headers"] }[] = [];
  const tls = {
    cert: own.certificate,
    key: own.key,
    ca: authority.certificate,
    requestCert: true,
    rejectUnauthorized: false,
  };
  const server: Server = createServer(tls, (request, response) => {
    if (!(request.socket as TLSSocket).authorized) {
      response.writeHead(401).end();
      return;
    }
    seen.push({ url: request.url ?? "", headers: request.headers });
    answer(request, response);
  });
  server.on("upgrade", (request, socket) => {
    const accept = createHash("sha1")
      .update(`${request.headers["sec-websocket-key"]}258EAFA5-E914-47DA-95CA-C5AB0DC85B11`)
      .digest("base64");
    const head = `Upgrade: ${request.headers.upgrade}\r\nConnection: Upgrade\r\nSec-WebSocket-Accept: ${accept}\r\n`;
    socket.write(`HTTP/1.1 101 Switching Protocols\r\n${head}\r\n`);
    // Echoes its input.
    socket.pipe(socket);
    socket.on("error", () => socket.destroy());
  });
  await new Promise<void>((resolve) => server.listen(port, "127.0.0.1", resolve));
  return {
    port: (server.address() as AddressInfo).port,
    caBundle: Buffer.from(authority.certificate).toString("base64"),
    proxy: { cert: proxy.certificate, key: proxy.key },
    seen,
    stop: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}

function answer(request: IncomingMessage, response: ServerResponse): void {
  const { pathname, searchParams } = new URL(request.url ?? "/", "https://x");
  const send = (code: number, value: unknown) => {
    response.writeHead(code, { "content-type": "application/json" }).end(JSON.stringify(value));
  };
  if (pathname === root) {
    const verbs = ["get", "list", "watch", "create"];
    const resources = [{ name: "nodes", singularName: "", namespaced: false, kind: "NodeMetrics", verbs }];
    send(200, { kind: "APIResourceList", apiVersion: "v1", groupVersion: `${EXTENSION_GROUP}/v1`, resources });
  } else if (pathname === "/openapi/v2") {
    send(200, EXTENSION_SWAGGER);
  } else if (pathname === "/openapi/v3") {
    send(200, { paths: { [root.slice(1)]: { serverRelativeURL: `/openapi/v3${root}?hash=C0FFEE` } } });
  } else if (pathname === `/openapi/v3${root}`) {
    send(200, { openapi: "3.0.0", info: { title: "extension", version: "v1" }, paths: {} });
  } else if (pathname === `${root}/nodes` && request.method === "POST") {
    let size = 0;
    request.on("data", (chunk: Buffer) => {
      size += chunk.length;
    });
    request.on("end", () => send(201, { kind: "Received", size }));
  } else if (pathname === `${root}/nodes` && searchParams.get("watch")) {
    response.writeHead(200, { "content-type": "application/json" });
    for (const name of NODES) response.write(`${JSON.stringify({ type: "ADDED", object: node(name) })}\n`);
  } else if (pathname === `${root}/nodes`) {
    const kind = "NodeMetricsList";
    send(200, {
      kind,
      apiVersion: `${EXTENSION_GROUP}/v1`,
      metadata: { resourceVersion: "1" },
      items: NODES.map(node),
    });
  } else if (pathname === `${root}/nodes/elsewhere`) {
    response.writeHead(302, { location: "https://example.com/" }).end();
  } else if (pathname.startsWith(`${root}/nodes/node-`)) {
    send(200, node(pathname.split("/").at(-1) ?? ""));
  } else {
    const status = { kind: "Status", apiVersion: "v1", status: "Failure", reason: "NotFound", code: 404 };
    send(404, status);
  }
}
