import { createHash } from "node:crypto";
import { startControlPlane } from "./control-plane.ts";

/** All responses of a control plane to a series of requests, headers included, as comparable hashes. */
export async function sameRequests(seed: number): Promise<string[]> {
  await using cp = await startControlPlane({ seed, clock: { at: "2026-01-01T00:00:00Z" } });
  const answers: string[] = [];
  const send = async (method: string, path: string, body?: object, type = "application/json") => {
    const headers = { "content-type": type };
    const response = await cp.fetch(path, { method, headers, ...(body ? { body: JSON.stringify(body) } : {}) });
    // The CA is a secret of the process and does not depend on the seed.
    const shown = (await response.text()).replaceAll(JSON.stringify(cp.ca).slice(1, -1), "CA");
    const text = `${response.status} ${JSON.stringify([...response.headers])} ${shown}`;
    answers.push(`${method} ${path} ${createHash("sha256").update(text).digest("hex")}`);
  };
  await send("POST", "/api/v1/namespaces", { metadata: { generateName: "team-" } });
  await send("POST", "/api/v1/namespaces", { metadata: { name: "shop" } });
  await send("GET", "/api/v1/namespaces/shop/serviceaccounts");
  await send("POST", "/api/v1/namespaces/shop/services", { metadata: { name: "s" }, spec: { ports: [{ port: 80 }] } });
  const pod = { metadata: { generateName: "p-" }, spec: { containers: [{ name: "c", image: "i" }] } };
  for (let i = 0; i < 5; i++) await send("POST", "/api/v1/namespaces/shop/pods", pod);
  await cp.clock.advance({ minutes: 10 });
  await send("PATCH", "/api/v1/namespaces/shop", { metadata: { labels: { a: "b" } } }, "application/merge-patch+json");
  await send("POST", "/api/v1/namespaces/shop/configmaps", { metadata: { generateName: "c-" } });
  await send("DELETE", "/api/v1/namespaces/shop");
  await cp.settled();
  await send("GET", "/api/v1/namespaces");
  await send("GET", "/apis/rbac.authorization.k8s.io/v1/clusterroles");
  await send("GET", "/api/v1/configmaps");
  await send("GET", "/apis/coordination.k8s.io/v1/leases");
  await send("GET", "/api/v1/namespaces/shop/pods");
  return answers;
}
