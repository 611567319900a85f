import type { Authentication } from "../../access/authentication/assemble.ts";
import type { Environment, Log } from "../../base/util/environment.ts";
import { applyKinds } from "../../kinds/custom/coded-kind.ts";
import type { Resources } from "../../resources/resources.ts";
import type { GivenParts } from "../library/given-parts.ts";
import type { Config } from "./config.ts";
import type { Identity } from "./identity.ts";
import { assembleAccess } from "./phases/access.ts";
import { assembleAdmission } from "./phases/admission.ts";
import { assembleControllers } from "./phases/controllers.ts";
import { assembleFairness } from "./phases/fairness.ts";
import { assembleRoutes } from "./phases/routes.ts";
import { assembleServing } from "./phases/serving.ts";
import type { ServingParts } from "./phases/serving-parts.ts";
import { newSetting } from "./phases/setting.ts";
import { assembleStorage } from "./phases/storage.ts";

/** All parts of a server, connected, but not reachable yet. */
export interface Assembly extends Pick<ServingParts, "secured" | "open" | "inProcess" | "embedded" | "reportError"> {
  readonly resources: Resources;
  /** Resolves when the bootstrap roles and the program's own kinds exist. */
  readonly ready: Promise<void>;
  readonly identity: Identity;
  readonly authentication: Authentication;
  readonly log: Log;
  /** Starts the controllers, once the port is known under which clients reach the server. */
  start(port: number): void;
  /** `/readyz` fails from now on. Resolves when the server has removed itself from the endpoints and Leases. */
  stop(): Promise<void>;
}

/** Builds all parts, phase by phase. What must be closed goes onto `opened`, which closes in reverse order. */
export async function assemble(
  config: Config,
  environment: Environment,
  given: GivenParts,
  opened: AsyncDisposableStack,
): Promise<Assembly> {
  const setting = newSetting(config, environment, given, opened);
  const storage = await assembleStorage(setting);
  const access = await assembleAccess(setting, storage);
  const admission = await assembleAdmission(setting, storage, access);
  const fairness = assembleFairness(setting, storage);
  const routes = await assembleRoutes(setting, storage, access, admission, fairness);
  const serving = await assembleServing(setting, storage, access, admission, routes, fairness);
  const { controllers, rolesExist } = await assembleControllers(setting, storage, access, admission, routes, fairness);
  const { resources, identity } = storage;
  const { log, stopping, address, late } = setting;
  // The kinds of a guest are stored already.
  const kinds = given.isGuest ? [] : (config.kinds ?? []);
  const { secured, open, inProcess, embedded, reportError } = serving;
  return {
    resources,
    ready: rolesExist.then(() => applyKinds(kinds, resources, late.clients.value.apiServer, stopping.signal)),
    identity,
    authentication: access.authentication,
    log,
    secured,
    open,
    inProcess,
    embedded,
    reportError,
    start(port) {
      address.port = port;
      controllers.start(port);
      serving.start();
    },
    async stop() {
      stopping.abort();
      await controllers.leave();
    },
  };
}
