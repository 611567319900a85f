import { createWriteStream } from "node:fs";
import { mkdir } from "node:fs/promises";
import path from "node:path";
import { type ClusterServer, type ServerName, startClusterServer } from "../../cluster/server.ts";
import { type Client, clientFor } from "../../support/client.ts";
import { tokens } from "../../support/oracle.ts";
import { freePorts } from "../../support/ports.ts";
import { startProcess } from "../../support/process.ts";
import { eventually } from "../../support/time.ts";
import { requireTool } from "../../support/tools.ts";
import { PodStates } from "./pod-states.ts";
import { nodeStages, type StageSet, stageDefinition, stagesOf } from "./stage-sets.ts";

/** A server whose Pods are driven by Stages. */
export interface StageCluster {
  readonly client: Client;
  readonly states: PodStates;
  stop(): Promise<void>;
}

const NODES = "/api/v1/nodes";

/** Starts a cluster on Binnacle whose own nodes play the Stages. */
export async function startOurs(folder: string, set: StageSet): Promise<StageCluster> {
  await mkdir(folder, { recursive: true });
  const flags = ["--simulated-nodes=1", "--controllers=serviceaccount-controller"];
  const server = await startClusterServer("binnacle", folder, { store: "memory", flags });
  return open(server, async (client) => {
    for (const stage of await stagesOf(set)) await create(client, "/apis/kwok.x-k8s.io/v1alpha1/stages", stage);
    return undefined;
  });
}

/** Starts a cluster in which the real KWOK plays the Stages. */
export async function startTheirs(folder: string, set: StageSet, on: ServerName): Promise<StageCluster> {
  await mkdir(folder, { recursive: true });
  const flags = ["--controllers=serviceaccount-controller"];
  const server = await startClusterServer(on, folder, { store: "memory", flags });
  return open(server, async (client) => {
    const stages = [...(await nodeStages()), ...(await stagesOf(set))];
    for (const stage of stages) await create(client, "/apis/kwok.x-k8s.io/v1alpha1/stages", stage);
    return startKwok(server, folder);
  });
}

async function open(
  server: ClusterServer,
  prepare: (client: Client) => Promise<{ kill(): Promise<unknown> } | undefined>,
): Promise<StageCluster> {
  try {
    const client = clientFor(server.base, tokens.admin);
    await create(client, "/apis/apiextensions.k8s.io/v1/customresourcedefinitions", await stageDefinition());
    const account = { metadata: { name: "default" } };
    await client.call("POST", "/api/v1/namespaces/default/serviceaccounts", account);
    const program = await prepare(client);
    const states = new PodStates(client);
    const stop = async () => {
      states.stop();
      await program?.kill();
      await server.kill();
    };
    return { client, states, stop };
  } catch (error) {
    await server.kill();
    throw error;
  }
}

/** Adds a node whose Pods the Stages drive. */
export async function addNode({ client }: StageCluster, name: string): Promise<void> {
  const annotations = { "kwok.x-k8s.io/node": "fake" };
  await create(client, NODES, { metadata: { name, annotations } });
  await eventually(async () => {
    const { body } = await client.call("GET", `${NODES}/${name}`);
    const conditions: { type: string; status: string }[] = body.status?.conditions ?? [];
    return conditions.some(({ type, status }) => type === "Ready" && status === "True");
  });
}

/** The definition of a new kind is served after a moment. */
async function create(client: Client, collection: string, object: object): Promise<void> {
  await eventually(async () => {
    const { status, body } = await client.call("POST", collection, object);
    if (status === 404) return false;
    if (status !== 201) throw new Error(`${collection}: ${status} ${JSON.stringify(body)}`);
    return true;
  });
}

async function startKwok(server: ClusterServer, folder: string) {
  const [port] = await freePorts(1);
  const kubeconfig = await server.kubeconfig("kwok", { commonName: "kwok", organizations: ["system:masters"] });
  const args = [
    `--kubeconfig=${kubeconfig}`,
    "--enable-crds=Stage",
    "--manage-all-nodes=true",
    "--cidr=10.244.0.1/16",
    "--node-ip=10.0.0.1",
    "--node-lease-duration-seconds=40",
    `--server-address=127.0.0.1:${port}`,
    "-v=DEBUG",
  ];
  const log = createWriteStream(path.join(folder, "kwok.log"));
  const env = { ...process.env, HOME: folder };
  return startProcess(requireTool("kwok"), args, { env, cwd: folder, onOutput: (text) => log.write(text) });
}
