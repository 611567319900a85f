import type { AccountTokens } from "../../../access/authentication/service-accounts/assemble.ts";
import type { Credentials } from "../../../cluster/controllers/shared/credentials.ts";
import { ContainerImages } from "../../../cluster/nodes/behaviour/container-images.ts";
import { loadHandlers } from "../../../serving/connect/configuration/load-handlers.ts";
import { type Background, background } from "../background.ts";
import type { Config } from "../config.ts";
import type { Identity } from "../identity.ts";
import { loadSchedulerConfiguration } from "../scheduler-configuration.ts";
import type { AccessParts } from "./access.ts";
import type { AdmissionParts } from "./admission.ts";
import type { FairnessParts } from "./fairness.ts";
import type { RouteParts } from "./routes.ts";
import type { Setting } from "./setting.ts";
import type { StorageParts } from "./storage.ts";

/** Controllers, and what follows the stored objects. */
export interface ControllerParts {
  readonly controllers: Background;
  /** Resolves when the bootstrap roles exist. */
  readonly rolesExist: Promise<void>;
}

function credentialsOf(config: Config, identity: Identity, accounts: AccountTokens): Credentials {
  const { authority: rootCa, signingAuthority: authority } = identity;
  return {
    rootCa,
    signToken: (claims) => accounts.issuer.sign(claims),
    ...(authority && { certificates: { authority, maxLifetimeMs: config.clusterSigningMs } }),
  };
}

/** Begins to follow roles, definitions and policies, waits until all stored ones are known, and builds the controllers. */
export async function assembleControllers(
  { config, opened, log, given, late, kubelets }: Setting,
  { resources, identity, accounts, isPrepared }: StorageParts,
  { authentication, authorization }: AccessParts,
  { custom, dynamic }: AdmissionParts,
  { large, rolesHook }: RouteParts,
  fairness: FairnessParts,
): Promise<ControllerParts> {
  const { promise: rolesExist, resolve } = Promise.withResolvers<void>();
  const controllers = background({
    config,
    resources,
    credentials: credentialsOf(config, identity, accounts),
    schedulerConfiguration: await loadSchedulerConfiguration(config.schedulerConfig),
    clients: late.clients.value,
    trust: { current: () => authentication.trust(), onChange: (listener) => authentication.onChange(listener) },
    report: (controller, error) => log.error("controller failed, it will be retried", { err: error, controller }),
    waits: (lease, holder) => log.info("controllers wait until another program releases the Lease", { lease, holder }),
    further: (context) => custom.controllers(context),
    isGuest: given.isGuest ?? false,
    isAlone: given.store !== undefined,
    isPartial: given.isPartial ?? false,
    isPrepared,
    images: given.images ?? new ContainerImages((await loadHandlers(config.connect)).images),
    kubelets,
    connections: given.connections,
    rolesMade: () => {
      rolesHook.finish();
      resolve();
    },
  });
  const following = new AbortController();
  const { signal } = following;
  const followed = [authorization, custom, dynamic, ...fairness.followed];
  const running = followed.map((part) => part.run(signal));
  opened.defer(async () => {
    following.abort();
    await Promise.all(running);
  });
  opened.defer(() => large.close());
  opened.defer(() => controllers.stop());
  for (const part of followed) await part.loaded(signal);
  await controllers.prepare();
  return { controllers, rolesExist };
}
