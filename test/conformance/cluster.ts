import path from "node:path";
import { DEFAULT_CONTROLLERS } from "../../src/cluster/controllers/manager/default-controllers.ts";
import { startBinnacle } from "../support/binnacle.ts";
import { type Client, clientFor } from "../support/client.ts";
import { tokens } from "../support/oracle.ts";

/** What the tests run against. */
export interface ConformanceServer {
  /** The administrator's. */
  readonly kubeconfig: string;
  /** Where the tests may write. */
  readonly directory: string;
  /** How the server has ended, with the end of its output; undefined while it runs. */
  ended(): string | undefined;
  kill(): Promise<void>;
}

const NODE = "/api/v1/nodes/node-1";

const capacity = { cpu: "4", memory: "8Gi", pods: "110", "ephemeral-storage": "100Gi" };

const status = {
  capacity,
  allocatable: capacity,
  addresses: [{ type: "InternalIP", address: "10.1.0.1" }],
  conditions: ["Ready", "MemoryPressure", "DiskPressure", "PIDPressure"].map((type) => ({
    type,
    status: type === "Ready" ? "True" : "False",
    reason: "Declared",
    message: "nothing runs on this node",
    lastHeartbeatTime: new Date().toISOString().replace(/\.\d+Z$/, "Z"),
    lastTransitionTime: new Date().toISOString().replace(/\.\d+Z$/, "Z"),
  })),
};

/** Binnacle on an etcd of its own, with its controllers and one node that looks ready but that nothing stands behind. */
export async function startCluster(flags: readonly string[] = []): Promise<ConformanceServer> {
  const server = await startBinnacle({
    store: "etcd",
    flags: [`--controllers=${DEFAULT_CONTROLLERS}`, "--custom-objects=defined", ...flags],
  });
  try {
    await addNode(clientFor(server.base, tokens.admin));
    const ended = () => (server.process.hasExited ? server.process.output() : undefined);
    return { kubeconfig: server.kubeconfig, directory: server.directory, ended, kill: server.kill };
  } catch (error) {
    await server.kill();
    throw error;
  }
}

async function addNode(client: Client): Promise<void> {
  const merge = { "content-type": "application/merge-patch+json" };
  const node = { kind: "Node", apiVersion: "v1", metadata: { name: path.basename(NODE) } };
  await expect(client.call("POST", path.dirname(NODE), node));
  await expect(client.call("PATCH", `${NODE}/status`, { status }, merge));
  await expect(client.call("PATCH", NODE, { spec: { taints: null } }, merge));
}

async function expect(call: ReturnType<Client["call"]>): Promise<void> {
  const { status: code, body } = await call;
  if (code >= 300) throw new Error(`the node could not be made: ${JSON.stringify(body)}`);
}
