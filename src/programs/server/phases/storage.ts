import { type AccountTokens, prepareAccountTokens } from "../../../access/authentication/service-accounts/assemble.ts";
import { ContainerUsages } from "../../../cluster/nodes/metrics/container-usage.ts";
import { resourceMetrics } from "../../../cluster/nodes/metrics/resource-metrics.ts";
import { StoreMetrics } from "../../../serving/metrics/store-metrics.ts";
import { ObservedStore } from "../../../storage/observed-store.ts";
import { putFirstObjects } from "../bootstrap/first-objects.ts";
import { type Identity, prepareIdentity } from "../identity.ts";
import { keySpaceOf } from "../object-kinds.ts";
import { type ObjectParts, objectParts } from "../object-parts.ts";
import { openStore } from "../open-store.ts";
import { releaseMetrics } from "../release-metrics.ts";
import type { Setting } from "./setting.ts";

/** The store, the objects in it, and the server's own credentials. */
export interface StorageParts extends ObjectParts {
  readonly store: ObservedStore;
  readonly identity: Identity;
  readonly accounts: AccountTokens;
  /** The objects that every server creates at its start are stored already. */
  readonly isPrepared: boolean;
}

/** Opens the store while certificates and keys are read, and builds the built-in kinds over it. */
export async function assembleStorage({
  config,
  environment,
  given,
  opened,
  log,
  registries,
  late,
  kubelets,
}: Setting): Promise<StorageParts> {
  const { clock } = environment;
  const registry = registries["/metrics"];
  const metrics = new StoreMetrics(registry, clock);
  // All of them wait for files or for the network.
  const storing = Promise.resolve(given.store ?? openStore(config, keySpaceOf(config).root, clock, metrics));
  opened.defer(() => storing.then((store) => store.close(), noop));
  const preparing = Promise.all([
    given.identity ?? prepareIdentity(config, log),
    prepareAccountTokens(config, log, given.accountKey),
  ]);
  preparing.catch(noop);
  const inner = await storing;
  const isPrepared = given.isGuest || (await putFirstObjects(config, inner, environment));
  const [identity, accounts] = await preparing;
  const store = new ObservedStore(inner, {
    clock,
    requestEnded: metrics.requestEnded,
    failed: (error) =>
      log.error("the store rejects writes; check disk space and permissions, or the health of etcd", { err: error }),
    recovered: () => log.info("the store accepts writes again"),
  });
  const usages = new ContainerUsages([(container) => kubelets.usageOf(container)]);
  const rights = () => late.roles.value;
  const parts = objectParts(config, store, environment, accounts.issuer, rights, resourceMetrics(usages));
  const { catalog, keys, features } = parts.resources;
  metrics.follow(catalog, keys, store);
  releaseMetrics(registry, features);
  return { ...parts, store, identity, accounts, isPrepared };
}

const noop = (): void => {};
