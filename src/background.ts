import type { Config } from "./config.ts";
import { type Controller, type ReportProblem, runControllers, selectControllers } from "./controllers/controller.ts";
import { GarbageCollection } from "./controllers/garbage-collection.ts";
import { leaderKey, runAsLeader } from "./controllers/leader.ts";
import { NamespaceDeletion } from "./controllers/namespace-deletion.ts";
import { rootCaPublisher } from "./controllers/root-ca-publisher.ts";
import { serviceAccounts } from "./controllers/service-accounts.ts";
import type { Resources } from "./resources/resources.ts";

/** The loops that this server runs besides answering requests. */
export interface Background {
  /** Resolves when all of them have ended. */
  stop(): Promise<void>;
}

/** Starts the controllers that the configuration selects. Of several servers on one etcd only one runs them at a time. */
export function startBackground(
  config: Config,
  resources: Resources,
  authority: string,
  report: ReportProblem,
): Background {
  const all: Controller[] = [
    new GarbageCollection(resources, report),
    new NamespaceDeletion(resources, report),
    serviceAccounts(resources, report),
    rootCaPublisher(resources, authority, report),
  ];
  const selected = selectControllers(all, config.controllers);
  const stop = new AbortController();
  const run = (signal: AbortSignal) => runControllers(selected, signal, report);
  const { store, keys } = resources;
  const isShared = config.store.type === "etcd";
  let done: Promise<void> = Promise.resolve();
  if (selected.length > 0) {
    const lease = { store, key: leaderKey(keys, "controllers") };
    done = isShared ? runAsLeader(lease, stop.signal, run) : run(stop.signal);
    done.catch((error: unknown) => report("controllers", error));
  }
  return {
    async stop() {
      stop.abort();
      await done.catch(() => undefined);
    },
  };
}
