import { hostname } from "node:os";
import { registerApiServices } from "../controllers/api-services.ts";
import { createSystemPriorities } from "../controllers/bootstrap-priority-classes.ts";
import { bootstrapRoles } from "../controllers/bootstrap-roles.ts";
import { clusterAuthenticationTrust, type TrustSource } from "../controllers/cluster-authentication-trust.ts";
import {
  type Controller,
  type ControllerContext,
  type ReportProblem,
  runControllers,
  selectControllers,
} from "../controllers/controller.ts";
import { createDefaultNamespaces } from "../controllers/default-namespaces.ts";
import { FlowControl } from "../controllers/flow-control.ts";
import { identityLease, identityLeaseCollection } from "../controllers/identity-lease.ts";
import { kubernetesService } from "../controllers/kubernetes-service.ts";
import { leaderKey, runAsLeader } from "../controllers/leader.ts";
import { legacyTokenTracking } from "../controllers/legacy-token-tracking.ts";
import { createServiceRange } from "../controllers/service-range.ts";
import { serviceRepair } from "../controllers/service-repair.ts";
import { builtInPriorities } from "../kinds/all.ts";
import { mandatoryObjects, suggestedObjects } from "../kinds/flowcontrol/fixed-objects.ts";
import { firstAddress } from "../lib/ip-address.ts";
import type { Resources } from "../resources/resources.ts";
import type { Config } from "./config.ts";
import type { LoopbackClients } from "./loopback.ts";
import { MANAGER_LOOPS } from "./manager-loops.ts";
import { announcedAddress } from "./reachable-address.ts";

/** What the server does besides answering requests. */
export interface Background {
  /** Writes the objects that are there before the first request is answered. */
  prepare(): Promise<void>;
  /** Starts the loops, once it is known under which port clients find the server. */
  start(port: number): void;
  /**
   * Takes this server out of the endpoints of the Service kubernetes, and deletes the Lease of its identity. Resolves when that
   * is done; all other loops go on. Compat: the pre-shutdown hook `stop-kubernetes-service-controller` does so while kube-apiserver
   * still serves.
   */
  leave(): Promise<void>;
  /** Resolves when all of them have ended. */
  stop(): Promise<void>;
}

/** What the loops work with. */
export interface BackgroundOptions {
  readonly config: Config;
  readonly resources: Resources;
  readonly clients: LoopbackClients;
  /** The authority that clients are to trust, as PEM. */
  readonly authority: string;
  /** Whom this server believes. */
  readonly trust: TrustSource;
  readonly report: ReportProblem;
  /** Further loops of kube-apiserver. */
  readonly further: (context: ControllerContext) => Controller[];
  /** Called when the roles that Kubernetes needs are there. */
  readonly rolesMade: () => void;
  /** Everything that a server writes at its start is there, and nobody needs to know of this one. */
  readonly isGuest: boolean;
  /** The objects are there that are the same in every server: see `putFirstObjects`. */
  readonly isPrepared: boolean;
}

/**
 * The loops of two programs. Those of kube-apiserver always run, in every server. Those of kube-controller-manager run as
 * `--controllers` says, and of several servers on one etcd only in one at a time. Throws when that names an unknown one.
 */
export function background(options: BackgroundOptions): Background {
  const { config, resources, clients, report, trust, rolesMade, isGuest, isPrepared } = options;
  const own: ControllerContext = { resources, client: clients.apiServer, report };
  const flowControl = new FlowControl(own, { mandatory: mandatoryObjects, suggested: suggestedObjects });
  const selected = selectControllers(managerLoops(options), config.controllers);
  const leaving = new AbortController();
  const stopping = new AbortController();
  let announcing: Promise<void> | undefined;
  let running: Promise<void>[] = [];
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
      const { store, keys, clock, random } = resources;
      const made = isPrepared ? Promise.resolve(true) : bootstrapRoles(own, signal);
      const prepared = made.then((areMade) => areMade && rolesMade());
      // Service accounts may do nothing before their roles are there.
      const run = async (leading: AbortSignal) => {
        await prepared;
        await runControllers(selected, leading, clock, report);
      };
      const lease = { store, key: leaderKey(keys, "controllers"), identity: random.uuid(), clock };
      const isElected = config.store.type === "etcd" && selected.length > 0;
      announcing = runControllers(isGuest ? [] : announced(), leaving.signal, clock, report);
      running = [
        announcing,
        runControllers(always, signal, clock, report),
        isElected ? runAsLeader(lease, signal, run) : run(signal),
      ];
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

/** The loops that belong to a controller manager: what `--controllers` picks among. */
function managerLoops({ resources, clients, report, authority }: BackgroundOptions): Controller[] {
  return MANAGER_LOOPS.map(({ account, make }) =>
    make({ resources, client: clients.controller(account), report }, authority),
  );
}

function announcement(config: Config, port: number) {
  return {
    clusterAddress: firstAddress(config.serviceClusterIpRange.split(",")[0] ?? "") ?? "",
    ownAddress: announcedAddress(config),
    port,
    isShared: config.store.type === "etcd",
  };
}
