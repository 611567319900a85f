import assert from "node:assert/strict";
import { test } from "node:test";
import type { JsonObject, KubeObject } from "../../base/api/object.ts";
import { systemRandom } from "../../base/util/random.ts";
import type { Resources } from "../../resources/resources.ts";
import { serviceResolver } from "./resolve-service.ts";

const service = (name: string, spec: JsonObject): KubeObject => ({
  apiVersion: "v1",
  kind: "Service",
  metadata: { name },
  spec: { ports: [{ port: 443, name: "https" }], ...spec },
});
const slice = (of: string, addressType: string, addresses: readonly string[], more: JsonObject = {}): KubeObject => ({
  apiVersion: "discovery.k8s.io/v1",
  kind: "EndpointSlice",
  metadata: { name: `${of}-${addressType}`, labels: { "kubernetes.io/service-name": of } },
  addressType,
  ports: [
    { name: "metrics", port: 9090 },
    { name: "https", port: 8443 },
  ],
  endpoints: addresses.map((address) => ({ addresses: [address], ...more })),
});

const services = [
  service("plain", { clusterIP: "10.0.0.1" }),
  service("both", { clusterIP: "10.0.0.2", ipFamilies: ["IPv6", "IPv4"] }),
  service("headless", { clusterIP: "None" }),
  service("external", { type: "ExternalName", externalName: "example.com" }),
  service("idle", { clusterIP: "10.0.0.3" }),
];
const slices = [
  slice("plain", "IPv4", ["10.1.0.1", "10.1.0.2"]),
  slice("both", "IPv4", ["10.1.0.3"]),
  slice("both", "IPv6", ["fd00::3"]),
  slice("headless", "IPv4", ["10.1.0.4"]),
  slice("idle", "IPv4", ["10.1.0.5"], { conditions: { ready: false } }),
];

function resolver(toEndpoints: boolean) {
  const access = {
    find: async (_group: string, _plural: string, { name }: { name: string }) =>
      services.find(({ metadata }) => metadata.name === name),
    list: async () => slices,
  };
  const resolve = serviceResolver({ access, random: systemRandom } as unknown as Resources, toEndpoints);
  return async (name: string, port = 443): Promise<string> => {
    const found = await resolve({ namespace: "default", name, port }).catch((error: Error) => error.message);
    return typeof found === "string" ? found : `${found.host} ${found.port}`;
  };
}

test("resolves a service to its ClusterIP or external name", async () => {
  const at = resolver(false);
  assert.equal(await at("plain"), "10.0.0.1 443");
  assert.equal(await at("external", 8443), "example.com 8443");
  assert.equal(await at("headless"), 'cannot route to service with ClusterIP "None"');
  assert.equal(await at("plain", 444), 'no service port 444 found for service "plain"');
  assert.equal(await at("none"), 'service "none" not found');
});

test("resolves a service to a ready endpoint with --enable-aggregator-routing", async () => {
  const at = resolver(true);
  const seen = new Set<string>();
  for (let tries = 0; tries < 200; tries += 1) seen.add(await at("plain"));
  assert.deepEqual([...seen].sort(), ["10.1.0.1 8443", "10.1.0.2 8443"]);
  assert.equal(await at("both"), "fd00::3 8443");
  assert.equal(await at("headless"), "10.1.0.4 8443");
  assert.equal(await at("idle"), 'no endpoints available for service "idle"');
  assert.equal(await at("external"), 'unsupported service type "ExternalName"');
  assert.equal(await at("plain", 444), 'no service port 444 found for service "plain"');
});
