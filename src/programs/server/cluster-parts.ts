import { cloudControllers } from "../../cluster/cloud/cloud.ts";
import { prepareCloud } from "../../cluster/cloud/default-storage-class.ts";
import type { RunnableController } from "../../cluster/controllers/manager/all.ts";
import { type Controller, type ReportProblem, runControllers } from "../../cluster/controllers/shared/controller.ts";
import type { Informers } from "../../cluster/controllers/shared/informers.ts";
import { leaderKey, runAsLeader, storeRecord } from "../../cluster/controllers/shared/leader.ts";
import type { ContainerImages } from "../../cluster/nodes/behaviour/container-images.ts";
import { defaultBehaviour } from "../../cluster/nodes/behaviour/default-behaviour.ts";
import { functionBehaviour } from "../../cluster/nodes/behaviour/function-behaviour.ts";
import type { SimulatedKubelets } from "../../cluster/nodes/connect/simulated-kubelets.ts";
import { prepareMetrics } from "../../cluster/nodes/metrics/prepare-metrics.ts";
import { NodeConnections } from "../../cluster/nodes/node-connections.ts";
import { simulatedNodes } from "../../cluster/nodes/simulated-nodes.ts";
import type { Resources } from "../../resources/resources.ts";
import type { LoopbackClients } from "../../serving/pipeline/loopback.ts";
import type { Config } from "./config.ts";

/** What the scheduler and the nodes of a simulated cluster depend on. */
export interface ClusterOptions {
  readonly config: Config;
  readonly resources: Resources;
  readonly clients: Pick<LoopbackClients, "node" | "controller" | "apiServer">;
  readonly report: ReportProblem;
  /** The server starts on a prepared store: the nodes exist, unless a test has deleted them. */
  readonly isGuest: boolean;
  /** What containers do. */
  readonly images: ContainerImages;
  readonly kubelets: SimulatedKubelets;
  /** Which nodes are cut off. Optional. If omitted, none ever is. */
  readonly connections?: NodeConnections | undefined;
}

/** The simulated nodes and what surrounds them. Empty if the configuration has no nodes. */
export function simulatedParts(
  {
    config,
    resources,
    clients,
    report,
    isGuest,
    images,
    kubelets,
    connections = new NodeConnections(),
  }: ClusterOptions,
  informers: Informers,
  selected: readonly RunnableController[],
): Controller[] {
  const {
    simulatedNodes: count,
    simulatedNodeCapacity: capacity,
    simulatedNodeLeaseSeconds: leaseSeconds,
    clusterCidr,
  } = config;
  if (count === 0) return [];
  const hasRanges = clusterCidr !== undefined && selected.some(({ name }) => name === "node-ipam-controller");
  const behaviour = functionBehaviour(images, defaultBehaviour, { clock: resources.clock, access: resources.access });
  const clientOf = (name: string) => clients.node(name);
  const made = { count: isGuest ? 0 : count, capacity, leaseSeconds, waitsForRanges: hasRanges };
  const shared = { resources, report, informers };
  return [
    simulatedNodes({ ...shared, clientOf, stageClient: clients.apiServer, behaviour, kubelets, connections, ...made }),
    ...cloudControllers({ ...shared, client: clients.apiServer, accountClient: clients.controller }),
  ];
}

/** Runs the simulated nodes until the signal aborts. Of several servers on one etcd, one does. */
export async function runSimulated(
  { config, resources, clients, report, isGuest }: ClusterOptions,
  controllers: readonly Controller[],
  signal: AbortSignal,
): Promise<void> {
  if (controllers.length === 0) return;
  const own = { resources, client: clients.apiServer, report };
  if (!isGuest) await Promise.all([prepareCloud(own), prepareMetrics(own)]);
  const { store, keys, random, clock } = resources;
  const run = (leading: AbortSignal) => runControllers(controllers, leading, clock, report);
  if (config.store.type !== "etcd") return run(signal);
  const record = storeRecord({ store, key: leaderKey(keys, "simulated-nodes"), identity: random.uuid() });
  await runAsLeader(record, clock, signal, run);
}
