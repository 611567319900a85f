import { lookup } from "node:dns/promises";
import { networkInterfaces } from "node:os";
import type { Authorizer } from "../../api/attributes.ts";
import { HttpClient } from "../../client/http-client.ts";
import { AddressRules, isSameAddress } from "../../connect/addresses.ts";
import { makeConnector } from "../../connect/connector.ts";
import { KubeletClient } from "../../connect/kubelet-client.ts";
import { streamMetrics } from "../../connect/stream-metrics.ts";
import type { Log } from "../../lib/environment.ts";
import type { MetricRegistry } from "../../lib/metrics.ts";
import type { Resources } from "../../resources/resources.ts";
import type { Connector } from "../../verbs/target.ts";
import type { ConnectConfig } from "./config.ts";
import { openKubeletFiles } from "./kubelet-files.ts";
import { loadHandlers } from "./load-handlers.ts";

/** What connecting needs besides objects. */
export interface ConnectParts {
  readonly authorizer: Authorizer;
  readonly registry: MetricRegistry;
  readonly log: Log;
  /** Where this server answers. */
  readonly ownPort: () => number;
}

/** Makes what connects requests with nodes, pods and services. Rejects when a file cannot be read. */
export async function prepareConnect(
  config: ConnectConfig,
  resources: Resources,
  { authorizer, registry, log, ownPort }: ConnectParts,
): Promise<Connector & { close(): void }> {
  const { access, random, features, clock } = resources;
  const files = await openKubeletFiles(config, { clock, log });
  const { options: kubelet } = files;
  const handlers = await loadHandlers(config);
  const rules = new AddressRules(config.allowProxyTo);
  // A node may well be this machine; where clouds tell secrets no kubelet answers.
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

/** Whether an address is one of this machine's. */
function isOwnAddress(address: string): boolean {
  const own = Object.values(networkInterfaces()).flatMap((addresses = []) => addresses);
  return own.some((one) => isSameAddress(one.address, address));
}
