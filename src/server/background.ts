import { networkInterfaces } from "node:os";
import { type Controller, type ReportProblem, runControllers, selectControllers } from "../controllers/controller.ts";
import { GarbageCollection } from "../controllers/garbage-collection.ts";
import { kubernetesService } from "../controllers/kubernetes-service.ts";
import { leaderKey, runAsLeader } from "../controllers/leader.ts";
import { NamespaceDeletion } from "../controllers/namespace-deletion.ts";
import { rootCaPublisher } from "../controllers/root-ca-publisher.ts";
import { serviceAccounts } from "../controllers/service-accounts.ts";
import { serviceRepair } from "../controllers/service-repair.ts";
import { firstAddress } from "../lib/ip-address.ts";
import type { Resources } from "../resources/resources.ts";
import type { Config } from "./config.ts";

/** The loops that this server runs besides answering requests. */
export interface Background {
  /** Resolves when all of them have ended. */
  stop(): Promise<void>;
}

/** What the controllers have to know about the server they run in. */
export interface ServerFacts {
  /** The authority that clients are to trust, as PEM. */
  readonly authority: string;
  readonly port: number;
  /** Run whatever the configuration selects. */
  readonly always: readonly Controller[];
}

/**
 * Starts the controllers that the configuration selects. Of several servers on one etcd only one runs them at a time,
 * except for those that every server runs: the one that announces it, and those that always run.
 */
export function startBackground(
  config: Config,
  resources: Resources,
  { authority, port, always }: ServerFacts,
  report: ReportProblem,
): Background {
  const all: Controller[] = [
    new GarbageCollection(resources, report),
    new NamespaceDeletion(resources, report),
    serviceAccounts(resources, report),
    rootCaPublisher(resources, authority, report),
    serviceRepair(resources, report),
  ];
  const isShared = config.store.type === "etcd";
  const announcement = {
    clusterAddress: firstAddress(config.serviceClusterIpRange.split(",")[0] ?? "") ?? "",
    ownAddress: reachableAddress(config.bindAddress),
    port,
    isShared,
  };
  const announcing = kubernetesService(resources, announcement, report);
  const known = selectControllers([...all, announcing], config.controllers);
  const selected = known.filter((controller) => controller !== announcing);
  const { store, keys, clock, random } = resources;
  const stop = new AbortController();
  const run = (signal: AbortSignal) => runControllers(selected, signal, clock, report);
  let done: Promise<void> = Promise.resolve();
  if (selected.length > 0) {
    const lease = { store, key: leaderKey(keys, "controllers"), identity: random.uuid(), clock };
    done = isShared ? runAsLeader(lease, stop.signal, run) : run(stop.signal);
    done.catch((error: unknown) => report("controllers", error));
  }
  const own = known.includes(announcing) ? [...always, announcing] : always;
  const owned = runControllers(own, stop.signal, clock, report);
  return {
    async stop() {
      stop.abort();
      await Promise.allSettled([done, owned]);
    },
  };
}

const UNREACHABLE = /^(?:127\.|0\.0\.0\.0$|::1?$)/;

/** An address under which others reach this machine: the one it listens on, or one of its network. */
function reachableAddress(bindAddress: string): string | undefined {
  if (!UNREACHABLE.test(bindAddress)) return bindAddress;
  const candidates = Object.values(networkInterfaces()).flatMap((addresses) => addresses ?? []);
  return candidates.find(({ internal, family }) => !internal && family === "IPv4")?.address;
}
