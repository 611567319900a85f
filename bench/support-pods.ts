import { randomUUID } from "node:crypto";
import { clientFor } from "../test/support/client.ts";
import { token } from "./support.ts";

/** A Pod of about two kilobytes as a client would create it. */
export function podBody(
  name: string,
  annotations: Record<string, string> = {},
  nodeName?: string,
): Record<string, unknown> {
  const app = `app-${name.length % 7}`;
  return {
    apiVersion: "v1",
    kind: "Pod",
    metadata: {
      name,
      labels: { app, "pod-template-hash": "5d8c7b9f6d", tier: "backend", release: "stable" },
      annotations: { "example.com/config-hash": "0f343b0931126a20f133d67c2b018a3b", ...annotations },
    },
    spec: {
      nodeName,
      containers: [
        {
          name: "main",
          image: "registry.example.com/team/service:1.42.7",
          command: ["/bin/service", "--listen=:8080", "--log-level=info"],
          env: [
            { name: "REGION", value: "west" },
            { name: "DATABASE", value: "postgres://database.storage.svc:5432/service" },
          ],
          ports: [{ containerPort: 8080, name: "http" }],
          resources: { requests: { cpu: "100m", memory: "128Mi" }, limits: { memory: "256Mi" } },
          readinessProbe: { httpGet: { path: "/ready", port: "http" }, periodSeconds: 10 },
        },
      ],
      nodeSelector: { "kubernetes.io/os": "linux" },
    },
  };
}

const TEMPLATE = "bench-template";

/**
 * Puts Pods into etcd as the server at `base` would have stored them: one is created there, and its stored bytes are
 * repeated under other names. Returns the size of a stored Pod.
 */
export async function fillPods(
  etcdEndpoint: string,
  base: string,
  options: { count: number; namespaces: readonly string[] },
): Promise<number> {
  const client = clientFor(base, token);
  for (const name of options.namespaces) {
    const body = { apiVersion: "v1", kind: "Namespace", metadata: { name } };
    const { status } = await client.call("POST", "/api/v1/namespaces", body);
    if (status !== 201 && status !== 409) throw new Error(`namespace ${name}: ${status}`);
  }
  const first = options.namespaces[0] ?? "default";
  const { stored, uid } = await storeTemplate(etcdEndpoint, base, first);
  let size = 0;
  for (let at = 0; at < options.count; at += 100) {
    const requests = Array.from({ length: Math.min(100, options.count - at) }, (_, i) => {
      const namespace = options.namespaces[(at + i) % options.namespaces.length] ?? first;
      const name = `pod-${String(at + i).padStart(6, "0")}`;
      const value = stored
        .replaceAll(TEMPLATE, name)
        .replace(`"namespace":"${first}"`, `"namespace":"${namespace}"`)
        .replace(uid, randomUUID());
      size = value.length;
      return { requestPut: { key: encode(`/registry/pods/${namespace}/${name}`), value: encode(value) } };
    });
    await callEtcd(etcdEndpoint, "txn", { success: requests });
  }
  return size;
}

/** How large a Pod is when the server at `base` has stored it. */
export async function storedBytes(etcdEndpoint: string, base: string, namespace: string): Promise<number> {
  return Buffer.byteLength((await storeTemplate(etcdEndpoint, base, namespace)).stored);
}

/** Creates a Pod, reads what was stored, and deletes it. */
async function storeTemplate(
  etcdEndpoint: string,
  base: string,
  namespace: string,
): Promise<{ stored: string; uid: string }> {
  const client = clientFor(base, token);
  const path = `/api/v1/namespaces/${namespace}/pods`;
  const created = await client.call("POST", path, podBody(TEMPLATE));
  if (created.status !== 201) throw new Error(`template: ${created.status} ${JSON.stringify(created.body)}`);
  const stored = await readKey(etcdEndpoint, `/registry/pods/${namespace}/${TEMPLATE}`);
  await client.call("DELETE", `${path}/${TEMPLATE}?gracePeriodSeconds=0`);
  return { stored, uid: created.body.metadata.uid };
}

async function readKey(endpoint: string, key: string): Promise<string> {
  const { kvs } = (await callEtcd(endpoint, "range", { key: encode(key) })) as { kvs?: { value: string }[] };
  const value = kvs?.[0]?.value;
  if (value === undefined) throw new Error(`${key} is not in etcd`);
  return Buffer.from(value, "base64").toString();
}

async function callEtcd(endpoint: string, method: string, body: unknown): Promise<unknown> {
  const response = await fetch(`${endpoint}/v3/kv/${method}`, { method: "POST", body: JSON.stringify(body) });
  if (!response.ok) throw new Error(`etcd ${method}: ${response.status} ${await response.text()}`);
  return response.json();
}

function encode(text: string): string {
  return Buffer.from(text).toString("base64");
}
