import { hostname } from "node:os";
import { firstAddress } from "../../base/net/ip-address.ts";
import { registerApiServices } from "../../cluster/controllers/apiserver/api-services.ts";
import { createSystemPriorities } from "../../cluster/controllers/apiserver/bootstrap-priority-classes.ts";
import { bootstrapRoles } from "../../cluster/controllers/apiserver/bootstrap-roles.ts";
import {
  clusterAuthenticationTrust,
  type TrustSource,
} from "../../cluster/controllers/apiserver/cluster-authentication-trust.ts";
import { createDefaultNamespaces } from "../../cluster/controllers/apiserver/default-namespaces.ts";
import { FlowControl } from "../../cluster/controllers/apiserver/flow-control.ts";
import { identityLease, identityLeaseCollection } from "../../cluster/controllers/apiserver/identity-lease.ts";
import { kubernetesService } from "../../cluster/controllers/apiserver/kubernetes-service.ts";
import { legacyTokenTracking } from "../../cluster/controllers/apiserver/legacy-token-tracking.ts";
import { createServiceRange } from "../../cluster/controllers/apiserver/service-range.ts";
import { serviceRepair } from "../../cluster/controllers/apiserver/service-repair.ts";
import { RUNNABLE_CONTROLLERS, type RunnableController } from "../../cluster/controllers/manager/all.ts";
import { needsLease } from "../../cluster/controllers/manager/manager-lease.ts";
import {
  type Controller,
  type ControllerContext,
  type ReportProblem,
  runControllers,
  selectControllers,
} from "../../cluster/controllers/shared/controller.ts";
import type { Credentials } from "../../cluster/controllers/shared/credentials.ts";
import { Informers } from "../../cluster/controllers/shared/informers.ts";
import { type LeaderRecord, leaderKey, runAsLeader, storeRecord } from "../../cluster/controllers/shared/leader.ts";
import { programLease } from "../../cluster/controllers/shared/program-lease.ts";
import type { ContainerImages } from "../../cluster/nodes/behaviour/container-images.ts";
import type { SimulatedKubelets } from "../../cluster/nodes/connect/simulated-kubelets.ts";
import type { NodeConnections } from "../../cluster/nodes/node-connections.ts";
import type { SchedulerConfiguration } from "../../cluster/scheduler/configuration.ts";
import { Scheduler } from "../../cluster/scheduler/scheduler.ts";
import { builtInPriorities } from "../../kinds/built-in/all.ts";
import { mandatoryObjects, suggestedObjects } from "../../kinds/built-in/flowcontrol/fixed-objects.ts";
import type { Resources } from "../../resources/resources.ts";
import type { LoopbackClients } from "../../serving/pipeline/loopback.ts";
import { runSimulated, simulatedParts } from "./cluster-parts.ts";
import type { Config } from "./config.ts";
import { announcedAddress } from "./reachable-address.ts";

/** What the server does besides answering requests. */
export interface Background {
  /** Creates the objects that must exist before the first request. */
  prepare(): Promise<void>;
  /** Starts the controllers. `port`: where clients reach the server. */
  start(port: number): void;
  /**
   * Removes this server from the endpoints of the Service kubernetes and deletes its identity Lease. All other controllers
   * keep running. Compat: the pre-shutdown hook `stop-kubernetes-service-controller` does so while kube-apiserver still serves.
   */
  leave(): Promise<void>;
  /** Stops all controllers. Resolves when they have stopped. */
  stop(): Promise<void>;
}

/** Dependencies of the controllers. */
export interface BackgroundOptions {
  readonly config: Config;
  readonly resources: Resources;
  readonly clients: LoopbackClients;
  readonly credentials: Credentials;
  /** CAs and headers that this server trusts. */
  readonly trust: TrustSource;
  readonly report: ReportProblem;
  /** Called when the selected controllers begin to wait for the holder of a Lease. */
  readonly waits: (lease: string, holder: string) => void;
  /** Used with `--scheduler`. */
  readonly schedulerConfiguration: SchedulerConfiguration;
  /** Further controllers of kube-apiserver. */
  readonly further: (context: ControllerContext) => Controller[];
  /** Called when the bootstrap roles exist. */
  readonly rolesMade: () => void;
  /** One of many servers on a prepared store: it creates nothing at its start and does not announce itself. */
  readonly isGuest: boolean;
  /** No other program runs controllers on the store. */
  readonly isAlone: boolean;
  /** See `ControllerContext`. */
  readonly isPartial: boolean;
  /** The objects that are the same in every server are stored already: see `putFirstObjects`. */
  readonly isPrepared: boolean;
  /** See `ClusterOptions`. */
  readonly images: ContainerImages;
  readonly kubelets: SimulatedKubelets;
  readonly connections?: NodeConnections | undefined;
}

/**
 * Builds the controllers of two programs. Those of kube-apiserver always run, in every server. `--controllers` selects those
 * of kube-controller-manager; of several servers on one etcd, one runs them. Beyond the default ones, they run only while
 * this server holds the Lease of kube-controller-manager. Throws if `--controllers` names an unknown one.
 */
export function background(options: BackgroundOptions): Background {
  const { config, resources, clients, report, trust, rolesMade, isGuest, isPrepared } = options;
  const own: ControllerContext = { resources, client: clients.apiServer, report };
  const flowControl = new FlowControl(own, { mandatory: mandatoryObjects, suggested: suggestedObjects });
  const selected = selectControllers(RUNNABLE_CONTROLLERS, config.controllers);
  const informers = new Informers(resources, report);
  const managed = managerLoops(options, selected, informers);
  const simulated = simulatedParts(options, informers, selected);
  const leaving = new AbortController();
  const stopping = new AbortController();
  let announcing: Promise<void> | undefined;
  let running: Promise<unknown>[] = [];
  return {
    async prepare() {
      if (isGuest) return;
      await createServiceRange(own, config.serviceClusterIpRange.split(","));
      if (isPrepared) return;
      await createDefaultNamespaces(own);
      await createSystemPriorities(own);
      await flowControl.prepare();
      await registerApiServices(own, builtInPriorities(config.apiDomain));
    },
    start(port) {
      const ofOneServer = () => [
        flowControl,
        serviceRepair(own),
        identityLeaseCollection(own),
        clusterAuthenticationTrust(own, trust),
        legacyTokenTracking(own),
      ];
      const announced = () => [kubernetesService(own, announcement(config, port)), identityLease(own, hostname())];
      const always = [...(isGuest ? [] : ofOneServer()), ...options.further(own)];
      const { signal } = stopping;
      const { clock } = resources;
      const made = isPrepared ? Promise.resolve(true) : bootstrapRoles(own, signal);
      const prepared = made.then((areMade) => areMade && rolesMade());
      // Service accounts may do nothing before their roles are there.
      const elected = prepared.then(() => runElected(options, selected, managed, signal));
      const scheduled = prepared.then(() => (config.scheduler ? schedule(options, informers, signal) : undefined));
      announcing = runControllers(isGuest ? [] : announced(), leaving.signal, clock, report);
      const runNodes = prepared.then(() => runSimulated(options, simulated, signal));
      running = [announcing, runControllers(always, signal, clock, report), elected, scheduled, runNodes];
      for (const one of running) one.catch((error: unknown) => report("controllers", error));
    },
    async leave() {
      leaving.abort();
      await announcing;
    },
    async stop() {
      leaving.abort();
      stopping.abort();
      await Promise.allSettled(running);
    },
  };
}

/** The record that decides which program runs the selected controllers. Undefined if this server always does. */
async function leaderRecord(
  { config, resources, clients, report, waits, isAlone }: BackgroundOptions,
  selected: readonly RunnableController[],
): Promise<LeaderRecord | undefined> {
  const { store, keys, random } = resources;
  const isShared = config.store.type === "etcd";
  if (!isAlone && needsLease(selected.map(({ name }) => name))) {
    const context = { resources, client: clients.controllerManager("leader-election"), report };
    return programLease(context, { program: "kube-controller-manager", hostname: hostname(), isShared, waits });
  }
  if (!isShared || selected.length === 0) return undefined;
  return storeRecord({ store, key: leaderKey(keys, "controllers"), identity: random.uuid() });
}

/** Runs the controllers of kube-controller-manager while this server leads. */
async function runElected(
  options: BackgroundOptions,
  selected: readonly RunnableController[],
  managed: readonly Controller[],
  signal: AbortSignal,
): Promise<void> {
  const { report, resources } = options;
  const run = (leading: AbortSignal) => runControllers(managed, leading, resources.clock, report);
  const record = await leaderRecord(options, selected);
  await (record ? runAsLeader(record, resources.clock, signal, run) : run(signal));
}

/** Runs the scheduler while this server holds the Lease of kube-scheduler. */
async function schedule(
  { config, resources, clients, report, waits, isAlone, schedulerConfiguration }: BackgroundOptions,
  informers: Informers,
  signal: AbortSignal,
): Promise<void> {
  const context = { resources, client: clients.scheduler("scheduler"), report, informers };
  const scheduler = new Scheduler(context, schedulerConfiguration);
  const run = (leading: AbortSignal) => runControllers([scheduler], leading, resources.clock, report);
  if (isAlone) return run(signal);
  const election = { resources, client: clients.scheduler("leader-election"), report };
  const isShared = config.store.type === "etcd";
  const record = await programLease(election, { program: "kube-scheduler", hostname: hostname(), isShared, waits });
  await runAsLeader(record, resources.clock, signal, run);
}

function managerLoops(
  options: BackgroundOptions,
  selected: readonly RunnableController[],
  informers: Informers,
): Controller[] {
  const { config, resources, clients, report, credentials, isPartial } = options;
  const addressRanges = {
    clusterCidrs: config.clusterCidr?.split(",") ?? [],
    serviceCidrs: config.serviceClusterIpRange.split(","),
  };
  const common = { resources, report, informers, isPartial, addressRanges };
  return selected.map(({ name, account, make }) => {
    const client = account === undefined ? clients.controllerManager(name) : clients.controller(account);
    return make({ ...common, client }, credentials);
  });
}

function announcement(config: Config, port: number) {
  return {
    clusterAddress: firstAddress(config.serviceClusterIpRange.split(",")[0] ?? "") ?? "",
    ownAddress: announcedAddress(config),
    port,
    isShared: config.store.type === "etcd",
  };
}
