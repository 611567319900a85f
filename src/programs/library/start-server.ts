import type { KubeObject } from "../../base/api/object.ts";
import { systemClock } from "../../base/util/clock.ts";
import type { Environment, Log } from "../../base/util/environment.ts";
import { systemRandom } from "../../base/util/random.ts";
import { fetchFrom, sendFrom } from "../../serving/http/fetch.ts";
import { ADMINISTRATOR } from "../server/identity.ts";
import { type Server as ListeningServer, type ServerWithParts, startWithParts } from "../server/server.ts";
import { applyObject, type Manifests, objectsOf } from "./apply.ts";
import { connect, OpenRequests } from "./client/connection.ts";
import { ConnectedAccess, type InProcessAccess } from "./client/in-process-access.ts";
import { type User, userInfoOf } from "./client/user.ts";
import { objectRequests } from "./object-requests.ts";
import { checkOptions, completeConfig, type ServerOptions } from "./options.ts";

/** Options of a request, as of the global `fetch`. */
export interface FetchOptions extends RequestInit {
  /** Whose permissions apply. Default: the user of the Authorization header, or the administrator without one. */
  readonly user?: User;
}

/** A running server in this process. Requests of `fetch`, clients and reconcilers need no socket. */
export interface Server extends ListeningServer, InProcessAccess {
  /** Sends a request, such as `fetch("/api/v1/namespaces")`. */
  fetch(input: string | URL | Request, options?: FetchOptions): Promise<Response>;
  /** Applies manifests in their order as the administrator, like `kubectl apply --server-side --force-conflicts`. */
  apply(manifests: Manifests): Promise<KubeObject[]>;
}

const FIELD_MANAGER = "binnacle";

/**
 * Starts a server in this process. Resolves when it is ready. Omitted options have the defaults of `binnacle serve`, except that the
 * server listens on a free port of 127.0.0.1 (`securePort`) and writes no files (`certDir`). Rejects with an OptionsError that lists
 * every invalid option. After any other error, everything that was opened is closed.
 */
export async function startServer(options: ServerOptions = {}): Promise<Server> {
  checkOptions(options);
  const { log, clock = systemClock, random = systemRandom, ...given } = options;
  const environment: Environment = { clock, random, log: await logOf(log) };
  const config = completeConfig(given);
  const server = await startWithParts(config, environment);
  await server.ready;
  return embed(server, environment, config.shutdownGraceMs);
}

/** Adds what needs no socket. */
function embed(server: ServerWithParts, environment: Environment, graceMs: number): Server {
  const { resources, ready: _, local, ...listening } = server;
  const { url, token } = server;
  const open = new OpenRequests();
  const access = new ConnectedAccess(connect(local, environment, ADMINISTRATOR, open));
  const secured = open.track(local.secured);
  const embedded = open.track(local.embedded.answer);
  const asAdministrator = fetchFrom(secured, url, { token });
  const request = objectRequests(sendFrom(secured, { token }), url);
  const fetch: Server["fetch"] = async (input, { user, ...init } = {}) =>
    user ? fetchFrom(embedded, url, { user: userInfoOf(user) })(input, init) : asAdministrator(input, init);
  const close = async (): Promise<void> => {
    await access.close();
    await open.close(graceMs, environment.clock);
    await server.close();
  };
  return {
    ...listening,
    fetch,
    client: access.client,
    reconcile: access.reconcile,
    async apply(manifests) {
      const applied: KubeObject[] = [];
      for (const object of objectsOf(manifests)) {
        applied.push(await applyObject(request, resources.catalog, object, FIELD_MANAGER));
      }
      return applied;
    },
    close,
    [Symbol.asyncDispose]: close,
  };
}

/** A log that discards everything. */
export const SILENCE: Log = { error() {}, warn() {}, info() {} };

async function logOf(log: Log | false | undefined): Promise<Log> {
  if (log === false) return SILENCE;
  if (log !== undefined) return log;
  const { systemEnvironment } = await import("../../base/log/system-environment.ts");
  return systemEnvironment().log;
}
