import type { Environment } from "../../base/util/environment.ts";
import type { Resources } from "../../resources/resources.ts";
import { renewCertificate, type ServingPair } from "../../serving/http/certificate-renewal.ts";
import { type Listener, listen } from "../../serving/http/listener.ts";
import { serveUpgradesOnDemand } from "../../serving/http/upgrades.ts";
import type { GivenParts } from "../library/given-parts.ts";
import { type Assembly, assemble } from "./assemble.ts";
import type { Config } from "./config.ts";
import type { ServingParts } from "./phases/serving-parts.ts";
import { localUrl } from "./reachable-address.ts";

/** A running server. */
export interface Server extends AsyncDisposable {
  /** Its address, with TLS. */
  readonly url: string;
  /** Its address without TLS. Undefined without `insecurePort`. */
  readonly insecureUrl: string | undefined;
  /** The CA of its certificate, as PEM. */
  readonly ca: string;
  /** The administrator's bearer token. */
  readonly token: string;
  /** The administrator's kubeconfig. */
  readonly kubeconfig: string;
  /** The file the kubeconfig was written to. Undefined without `certDir`. */
  readonly kubeconfigFile: string | undefined;
  /** Turns `/readyz` to failed, then ends watches, waits for open requests for a while, and closes the store. */
  close(): Promise<void>;
}

/** Starts a server. Rejects, and leaves nothing open, if the store or the address is not available. */
export async function startServer(config: Config, environment: Environment, given?: GivenParts): Promise<Server> {
  const { resources: _, ready: __, local: ___, ...server } = await startWithParts(config, environment, given);
  return server;
}

/** A running server with access to the catalog and all objects. Internal: it may change at any time. */
export interface ServerWithParts extends Server {
  readonly resources: Resources;
  /** Resolves when the bootstrap roles exist and `/readyz` succeeds. */
  readonly ready: Promise<void>;
  /** Answers requests without a socket. */
  readonly local: Pick<ServingParts, "secured" | "embedded">;
}

/** Like `startServer`, for tests that change what is served. */
export async function startWithParts(
  config: Config,
  environment: Environment,
  given: GivenParts = {},
): Promise<ServerWithParts> {
  const opened = new AsyncDisposableStack();
  try {
    return await build(config, environment, given, opened);
  } catch (error) {
    await opened.disposeAsync();
    throw error;
  }
}

/** Assembles a server and makes it reachable. */
async function build(
  config: Config,
  environment: Environment,
  given: GivenParts,
  opened: AsyncDisposableStack,
): Promise<ServerWithParts> {
  const { clock } = environment;
  const assembly = await assemble(config, environment, given, opened);
  const { identity, log } = assembly;
  const { secure, insecure } = await listenOn(config, assembly, opened);
  const listeners = insecure ? [secure, insecure] : [secure];
  const apply = (pair: ServingPair) => secure.changeTls(pair);
  const renewal = renewCertificate({ clock, log, current: identity.tls, refresh: identity.refreshServing, apply });
  opened.defer(() => void renewal.close());
  const url = localUrl(config.bindAddress, secure.port);
  // Written before `/readyz` succeeds: programs that wait for it read the file next.
  const kubeconfigFile = await identity.saveKubeconfig(url);
  assembly.start(secure.port);
  let closing: Promise<void> | undefined;
  const close = (): Promise<void> => {
    closing ??= (async () => {
      const { shutdownDelayMs: delayMs } = config;
      if (delayMs > 0) for (const listener of listeners) listener.leave();
      await Promise.all([assembly.stop(), delayMs > 0 ? clock.sleep(delayMs) : undefined]);
      await opened.disposeAsync();
    })();
    return closing;
  };
  return {
    url,
    insecureUrl: insecure && `http://127.0.0.1:${insecure.port}`,
    ca: identity.authority,
    token: identity.admin.token,
    kubeconfig: identity.kubeconfig(url),
    kubeconfigFile,
    resources: assembly.resources,
    ready: assembly.ready,
    local: assembly,
    close,
    [Symbol.asyncDispose]: close,
  };
}

/** Listens with TLS, and without it on loopback if a port is configured. */
async function listenOn(
  { bindAddress, securePort, insecurePort, shutdownGraceMs }: Config,
  { identity, authentication, secured, open, reportError, log }: Assembly,
  opened: AsyncDisposableStack,
): Promise<{ secure: Listener; insecure: Listener | undefined }> {
  const secure = await listen(secured, {
    host: bindAddress,
    port: securePort,
    tls: { ...identity.tls, clientCa: authentication.clientCa() },
    onUpgrade: serveUpgradesOnDemand(secured, reportError),
    reportError,
  });
  authentication.onChange(() => secure.changeTls({ clientCa: authentication.clientCa() ?? "" }));
  const listeners = [secure];
  opened.defer(async () => void (await Promise.all(listeners.map((one) => one.close(shutdownGraceMs)))));
  if (!insecurePort) return { secure, insecure: undefined };
  const onUpgrade = serveUpgradesOnDemand(open, reportError);
  const insecure = await listen(open, { host: "127.0.0.1", port: insecurePort, onUpgrade, reportError });
  listeners.push(insecure);
  log.warn("insecure port: every local process is cluster-admin", { port: insecurePort });
  return { secure, insecure };
}
