import assert from "node:assert/strict";
import { request } from "node:https";
import { gunzipSync, inflateRawSync } from "node:zlib";
import { placePod } from "../clients/connect-steps.ts";
import { startBinnacle } from "../support/binnacle.ts";
import { type Client, clientFor } from "../support/client.ts";
import { startKubeletNode } from "../support/kubelet-node.ts";
import { startOracle, tokens } from "../support/oracle.ts";
import { type Backend, type ScriptedAnswer, startBackend } from "./backend.ts";
import { PROXY_CASES, type ProxyCase } from "./cases.ts";

/**
 * node test/proxies/twins.ts ADDRESS
 * Sends requests for proxies to Binnacle and to the real server, whose pods, services and nodes are at an address of this
 * machine that is not loopback. Prints what each of them answered and what the backend heard, a line of JSON for each case.
 */
const [address = ""] = process.argv.slice(2);
const NAMESPACE = "/api/v1/namespaces/default";
const MERGE = { "content-type": "application/merge-patch+json" };

/** Makes the objects whose proxies are asked. */
async function place(client: Client, backend: Backend, nodePort: number): Promise<void> {
  const made = async (path: string, object: object) => {
    const { status, body } = await client.call("POST", path, object);
    assert.equal(status, 201, JSON.stringify(body));
  };
  const moved = async (path: string, status: object) => {
    const { status: code, body } = await client.call("PATCH", `${path}/status`, { status }, MERGE);
    assert.equal(code, 200, JSON.stringify(body));
  };
  await placePod(client, { port: nodePort });
  await moved("/api/v1/nodes/one", { addresses: [{ type: "InternalIP", address }] });
  const ports = [{ containerPort: backend.port }];
  for (const [name, ip] of [
    ["web", address],
    ["loop", "127.0.0.1"],
    ["new", undefined],
  ] as const) {
    const containers = [{ name: "main", image: "registry.example/app:1", ports }];
    await client.call("DELETE", `${NAMESPACE}/pods/${name}?gracePeriodSeconds=0`);
    await made(`${NAMESPACE}/pods`, { metadata: { name }, spec: { automountServiceAccountToken: false, containers } });
    if (ip) await moved(`${NAMESPACE}/pods/${name}`, { phase: "Running", podIP: ip, podIPs: [{ ip }] });
  }
  const named = [
    { name: "http", port: 80, targetPort: backend.port },
    { name: "tls", port: 443, targetPort: backend.securePort },
  ];
  for (const [name, own] of [
    ["svc", named],
    ["plain", [{ port: 80 }]],
    ["idle", named],
  ] as const) {
    await made(`${NAMESPACE}/services`, { metadata: { name }, spec: { ports: own } });
    if (name === "idle") continue;
    await made("/apis/discovery.k8s.io/v1/namespaces/default/endpointslices", {
      metadata: { name: `${name}-1`, labels: { "kubernetes.io/service-name": name } },
      addressType: "IPv4",
      ports: own.map((port) => ({
        name: "name" in port ? port.name : "",
        port: "targetPort" in port ? port.targetPort : backend.port,
      })),
      endpoints: [{ addresses: [address], targetRef: { kind: "Pod", namespace: "default", name: "web" } }],
    });
  }
}

/** Headers that servers make up, or that say what they do with the client's connection. */
const OWN = new Set([
  ...["date", "audit-id", "x-kubernetes-pf-flowschema-uid", "x-kubernetes-pf-prioritylevel-uid"],
  ...["connection", "keep-alive"],
]);
/** How long a body is: pages are rewritten as they come here, and HEAD is told no length of nothing by Go. */
const FRAMING = ["content-length: ", "transfer-encoding: "];

interface Told {
  readonly status: number;
  readonly headers: readonly string[];
  readonly body: string;
}

function ask(base: string, { method = "GET", headers = {}, body = "", isChunked = false }: ProxyCase, path: string) {
  return new Promise<Told>((resolve, reject) => {
    const framing =
      body === "" ? {} : isChunked ? { "transfer-encoding": "chunked" } : { "content-length": body.length };
    const all = {
      authorization: `Bearer ${tokens.admin}`,
      "user-agent": "test",
      "accept-encoding": "identity",
      ...framing,
      ...headers,
    };
    const outgoing = request(base, { path, method, headers: all, rejectUnauthorized: false, agent: false });
    const told = (status: number, raw: readonly string[], bytes: Buffer): void => {
      const lines: string[] = [];
      for (let index = 0; index < raw.length; index += 2) {
        const name = raw[index]?.toLowerCase() ?? "";
        if (!OWN.has(name)) lines.push(`${name}: ${raw[index + 1]}`);
      }
      const isPage = lines.some((line) => line.startsWith("content-type: text/html"));
      const isFramed = (line: string) => FRAMING.some((one) => line.startsWith(one));
      const kept = isPage || (method === "HEAD" && status >= 300) ? lines.filter((line) => !isFramed(line)) : lines;
      const packed = lines.find((line) => line.startsWith("content-encoding: "))?.slice(18);
      resolve({ status, headers: kept.sort(), body: unpack(bytes, packed) });
    };
    outgoing.on("response", (response) => {
      response.toArray().then(
        (chunks) => told(response.statusCode ?? 0, response.rawHeaders, Buffer.concat(chunks)),
        (error: Error) => told(response.statusCode ?? 0, response.rawHeaders, Buffer.from(`broken: ${error.message}`)),
      );
    });
    outgoing.on("upgrade", (response, socket) => {
      socket.once("data", (chunk: Buffer) => {
        socket.destroy();
        told(response.statusCode ?? 0, response.rawHeaders, chunk);
      });
      socket.write("echo");
    });
    outgoing.on("error", reject);
    outgoing.end(body);
  });
}

function unpack(bytes: Buffer, encoding: string | undefined): string {
  try {
    if (encoding === "gzip") return `gzip of ${gunzipSync(bytes)}`;
    if (encoding === "deflate") return `deflate of ${inflateRawSync(bytes)}`;
  } catch {
    return `no ${encoding}: ${bytes}`;
  }
  return bytes.toString();
}

const node = await startKubeletNode(address);
const backend = await startBackend(address);
const [binnacle, oracle] = await Promise.all([
  startBinnacle({ flags: node.flags }),
  startOracle({ flags: [...node.flags, `--advertise-address=${address}`] }),
]);
try {
  const roots: Readonly<Record<string, string>> = {
    POD: `/api/v1/namespaces/default/pods/web:${backend.port}/proxy`,
    SERVICE: "/api/v1/namespaces/default/services/svc:http/proxy",
    NODE: `/api/v1/nodes/one:${backend.port}/proxy`,
    KUBELET: "/api/v1/nodes/one/proxy",
  };
  for (const { base } of [binnacle, oracle]) await place(clientFor(base, tokens.admin), backend, node.port);
  const fill = (text: string, base: string): string =>
    text
      .replaceAll("BACKEND", `${address}:${backend.port}`)
      .replaceAll("SERVER", new URL(base).host)
      .replaceAll("/PREFIX", roots.POD ?? "");
  for (const one of PROXY_CASES) {
    const [kind = ""] = /^[A-Z]+/.exec(one.target) ?? [];
    const path = (kind === "" ? `/api/v1${one.target}` : `${roots[kind]}${one.target.slice(kind.length)}`)
      .replaceAll("SECURE", String(backend.securePort))
      .replaceAll("PORT", String(backend.port));
    const told: unknown[] = [];
    for (const { base } of [binnacle, oracle]) {
      backend.heard.length = 0;
      node.seen.length = 0;
      backend.script = filled(one.answer ?? {}, (text) => fill(text, base));
      const answer = await ask(base, one, path).catch((error: Error) => error.message);
      const seen = node.seen.map(({ method, url, headers }) => ({ method, url, headers }));
      // A kubelet's answer repeats the headers in the order in which they came.
      const isTold = typeof answer !== "string" && kind === "KUBELET" && answer.body.startsWith("{");
      const shown = isTold ? { ...answer, body: { ...JSON.parse(answer.body), headers: undefined } } : answer;
      const text = JSON.stringify({ answer: shown, heard: [...backend.heard, ...seen] });
      told.push(JSON.parse(text.replaceAll(new URL(base).host, "SERVER")));
    }
    const { name, difference } = one;
    process.stdout.write(`${JSON.stringify({ name, difference, ours: told[0], theirs: told[1] })}\n`);
  }
} finally {
  await Promise.all([binnacle.kill(), oracle.kill()]);
  backend.stop();
  await node.stop();
}

function filled(answer: ScriptedAnswer, fill: (text: string) => string): ScriptedAnswer {
  const { headers, body } = answer;
  const length = String(typeof body === "string" ? fill(body).length : body?.length);
  const fillAll = (value: string | string[]) => [value].flat().map((one) => fill(one).replace("LENGTH", length));
  const all = headers && Object.entries(headers).map(([name, value]) => [name, fillAll(value)]);
  return {
    ...answer,
    ...(all && { headers: Object.fromEntries(all) }),
    ...(typeof body === "string" && { body: fill(body) }),
  };
}
