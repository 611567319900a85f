import { mkdir } from "node:fs/promises";
import { startPrograms } from "../../cluster/programs.ts";
import { startClusterServer } from "../../cluster/server.ts";
import { type Client, clientFor } from "../../support/client.ts";
import { tokens } from "../../support/oracle.ts";
import { ClusterView } from "./cluster-view.ts";
import { isRunnable, KINDS, OTHER_COLLECTIONS } from "./kinds.ts";
import { SILENT } from "./nodes.ts";

/** A server with a scheduler, simulated nodes and controllers. */
export interface Cluster {
  readonly client: Client;
  readonly view: ClusterView;
  stop(): Promise<void>;
}

/** Controllers that do not belong to a kind of workloads but also react to sequences. */
const FURTHER_CONTROLLERS = ["garbage-collector-controller", "resourcequota-controller", "namespace-controller"];

/** The controllers that are compared. */
const COMPARED_CONTROLLERS = [
  ...new Set([...KINDS.flatMap(({ controllers }) => controllers), ...FURTHER_CONTROLLERS]),
].filter(isRunnable);

/** Without them the programs send at most 20 and 50 requests a second. */
const PROGRAM_FLAGS = ["--kube-api-qps=1000", "--kube-api-burst=1000", "--leader-elect=false"];

/** The real program binds claims that wait only once per period. Default: 15 s. */
const MANAGER_FLAGS = ["--pvclaimbinder-sync-period=3s"];

/**
 * Starts a cluster on Binnacle. The compared controllers run in Binnacle, or all controllers in the real
 * kube-controller-manager. Files and logs go to `folder`.
 */
export async function startCluster(
  folder: string,
  runs: "ours" | "theirs",
  onLost: (error: Error) => void,
): Promise<Cluster> {
  await mkdir(folder, { recursive: true });
  const isOurs = runs === "ours";
  const flags = isOurs ? [`--controllers=${COMPARED_CONTROLLERS.join(",")}`] : [];
  const others = `--controllers=*${isOurs ? COMPARED_CONTROLLERS.map((name) => `,-${name}`).join("") : ""}`;
  const server = await startClusterServer("binnacle", folder, { store: "memory", flags });
  try {
    const admin = await server.kubeconfig("admin", { commonName: "admin", organizations: ["system:masters"] });
    const managerFlags = [others, ...MANAGER_FLAGS];
    const programs = await startPrograms(server, admin, folder, {
      flags: PROGRAM_FLAGS,
      managerFlags,
      nodes: `!${SILENT}`,
    });
    const client = clientFor(server.base, tokens.admin);
    const view = new ClusterView(client);
    view.follow([...KINDS.map(({ collection }) => collection), ...OTHER_COLLECTIONS], onLost);
    const stop = async () => {
      view.stop();
      await programs.stop();
      await server.kill();
    };
    return { client, view, stop };
  } catch (error) {
    await server.kill();
    throw error;
  }
}
