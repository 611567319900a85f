import { lookup } from "node:dns/promises";
import { networkInterfaces } from "node:os";
import type { Authorizer } from "../../../base/api/attributes.ts";
import type { MetricRegistry } from "../../../base/metrics/metrics.ts";
import { HttpClient } from "../../../base/net/http-client.ts";
import type { Log } from "../../../base/util/environment.ts";
import type { Resources } from "../../../resources/resources.ts";
import type { Connector } from "../../verbs/target.ts";
import { AddressRules, isSameAddress } from "../addresses.ts";
import { makeConnector } from "../connector.ts";
import type { Handlers } from "../handlers/handlers.ts";
import { KubeletClient } from "../kubelet-client.ts";
import { streamMetrics } from "../stream-metrics.ts";
import { openKubeletFiles } from "./kubelet-files.ts";
import { loadHandlers } from "./load-handlers.ts";
import type { ConnectConfig } from "./options.ts";

/** Dependencies of `prepareConnect`. */
export interface ConnectParts {
  readonly authorizer: Authorizer;
  readonly registry: MetricRegistry;
  readonly log: Log;
  /** The handlers of Pods on simulated nodes. */
  readonly simulated: NonNullable<Handlers["pod"]>;
  /** The port of this server. */
  readonly ownPort: () => number;
}

/** Creates the connector to nodes, pods and services. Rejects if a file cannot be read. */
export async function prepareConnect(
  config: ConnectConfig,
  resources: Resources,
  { authorizer, registry, log, simulated, ownPort }: ConnectParts,
): Promise<Connector & { close(): void }> {
  const { access, random, features, clock } = resources;
  const files = await openKubeletFiles(config, { clock, log });
  const { options: kubelet } = files;
  const given = await loadHandlers(config);
  const handlers: Handlers = { ...given, pod: (pod) => given.pod?.(pod) ?? simulated(pod) };
  const rules = new AddressRules(config.allowProxyTo);
  // A node may be this machine. Metadata addresses stay denied.
  const nodeRules = new AddressRules(config.allowProxyTo, true);
  const client = new KubeletClient(clock, kubelet, nodeRules, resolve);
  const http = new HttpClient({ clock, maxConnections: 10_000, keptConnections: 0, dialTimeoutMs: 30_000 });
  const connector = makeConnector({
    handlers,
    clock,
    access,
    random,
    features,
    authorizer,
    kubelet,
    rules,
    resolve,
    isSelf: (address, port) => port === ownPort() && isOwnAddress(address),
    client,
    http,
    observer: streamMetrics(registry),
  });
  return {
    ...connector,
    close() {
      client.http.close();
      http.close();
      files.close();
    },
  };
}

async function resolve(host: string): Promise<string[]> {
  return (await lookup(host, { all: true })).map(({ address }) => address);
}

/** Whether an address belongs to this machine. */
function isOwnAddress(address: string): boolean {
  const own = Object.values(networkInterfaces()).flatMap((addresses = []) => addresses);
  return own.some((one) => isSameAddress(one.address, address));
}
