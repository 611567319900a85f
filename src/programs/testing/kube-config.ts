import { createRequire } from "node:module";
import type { Send } from "../../serving/http/fetch.ts";
import { type ApiConstructor, httpApi } from "./api-client.ts";
import { dispatcherOf } from "./dispatcher.ts";

// biome-ignore lint/suspicious/noTsIgnore: it is an error only in declarations, and only without the optional package
/** @ts-ignore: `KubeConfig` of `@kubernetes/client-node`. The type is `any` if the package is not installed. */
export type KubeConfig = import("@kubernetes/client-node").KubeConfig;

type RequestContext = Parameters<KubeConfig["applySecurityAuthentication"]>[0];

const PACKAGE = "@kubernetes/client-node";

/**
 * A KubeConfig of client-node with the contents of `kubeconfig`. Its API clients, watches, informers and logs send
 * requests without a socket. WebSockets (exec, attach, port-forward) use the address in `kubeconfig`.
 */
export function inProcessKubeConfig(kubeconfig: string, send: Send): KubeConfig {
  const { KubeConfig } = loadClient();
  const dispatcher = dispatcherOf(send) as never;

  class InProcessKubeConfig extends KubeConfig {
    /** Otherwise every request creates a TLS agent. */
    override createDispatcherOptions() {
      return { type: "none" } as const;
    }

    override async applySecurityAuthentication(context: RequestContext): Promise<void> {
      await super.applySecurityAuthentication(context);
      context.setDispatcher(dispatcher);
    }

    /** API clients do not need the dispatcher: without undici, a request takes about a third of the processor time. */
    override makeApiClient<Api extends object>(Api: ApiConstructor<Api>): Api {
      const { configuration } = super.makeApiClient(Configured);
      return new Api({ ...configuration, httpApi: httpApi(send, "") });
    }
  }

  const config = new InProcessKubeConfig();
  config.loadFromString(kubeconfig);
  return config;
}

/** An API class that only keeps its configuration. */
class Configured {
  readonly configuration: object;

  constructor(configuration: object) {
    this.configuration = configuration;
  }
}

function loadClient(): typeof import("@kubernetes/client-node") {
  const require = createRequire(import.meta.url);
  let client: ReturnType<typeof loadClient>;
  try {
    client = require(PACKAGE);
  } catch (error) {
    throw new Error(`kubeConfig() needs ${PACKAGE}: run npm install --save-dev ${PACKAGE}`, { cause: error });
  }
  if ("createDispatcherOptions" in client.KubeConfig.prototype) return client;
  throw new Error(`kubeConfig() needs ${PACKAGE} 2 or newer: run npm install --save-dev ${PACKAGE}@latest`);
}
