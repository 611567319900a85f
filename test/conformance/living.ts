import { startPrograms } from "../cluster/programs.ts";
import { type ClusterServerOptions, OWN_NODES, type ServerName, startClusterServer } from "../cluster/server.ts";
import { type Client, clientFor } from "../support/client.ts";
import { tokens } from "../support/oracle.ts";
import { eventually } from "../support/time.ts";
import type { ConformanceServer } from "./cluster.ts";

const DEPLOYMENTS = "/apis/apps/v1/namespaces/default/deployments";

/**
 * A server with the real scheduler and controller manager, or with its own controllers, and nodes that KWOK stands behind: their pods are ready at once,
 * and nothing runs in them. With `ownCluster`, the server is the only program. Resolves when a Deployment becomes available. Files go to `folder`, `flags` to
 * Binnacle.
 */
export async function startLivingCluster(
  name: ServerName,
  folder: string,
  options: Pick<ClusterServerOptions, "flags" | "ownControllers" | "ownCluster"> = {},
): Promise<ConformanceServer & { readonly base: string }> {
  const server = await startClusterServer(name, folder, options);
  try {
    const kubeconfig = await server.kubeconfig("admin", { commonName: "admin", organizations: ["system:masters"] });
    const { ownControllers = false, ownCluster = false } = options;
    const programs = ownCluster
      ? { stop: async () => {} }
      : await startPrograms(server, kubeconfig, folder, { hasManager: !ownControllers });
    const kill = () => programs.stop().finally(() => server.kill());
    try {
      const client = clientFor(server.base, tokens.admin);
      if (!ownCluster) await addNodes(client);
      await untilPodsRun(client);
      return { base: server.base, kubeconfig, directory: folder, ended: server.ended, kill };
    } catch (error) {
      await programs.stop();
      throw error;
    }
  } catch (error) {
    await server.kill();
    throw error;
  }
}

async function addNodes(client: Client): Promise<void> {
  const capacity = { cpu: "32", memory: "256Gi", pods: "110", "ephemeral-storage": "100Gi" };
  for (let i = 1; i <= OWN_NODES; i++) {
    const name = `node-${i}`;
    const labels = { "kubernetes.io/hostname": name, "kubernetes.io/os": "linux" };
    const node = { metadata: { name, labels }, status: { allocatable: capacity, capacity } };
    await client.call("POST", "/api/v1/nodes", node);
  }
}

/** The tests wait for their Deployments, but not for a controller manager that is still starting. */
async function untilPodsRun(client: Client): Promise<void> {
  const labels = { app: "probe" };
  const template = { metadata: { labels }, spec: { containers: [{ name: "probe", image: "probe" }] } };
  const probe = { metadata: { name: "probe" }, spec: { selector: { matchLabels: labels }, template } };
  await client.call("POST", DEPLOYMENTS, probe);
  const isAvailable = async () => {
    const { body } = await client.call("GET", `${DEPLOYMENTS}/probe`);
    return body.status?.availableReplicas === 1;
  };
  await eventually(isAvailable, { withinMs: 300_000, everyMs: 200, what: "a Deployment is available" });
  await client.call("DELETE", `${DEPLOYMENTS}/probe`);
}
