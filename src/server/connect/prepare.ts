import { lookup } from "node:dns/promises";
import { readFile } from "node:fs/promises";
import { networkInterfaces } from "node:os";
import type { Authorizer } from "../../api/attributes.ts";
import { HttpClient } from "../../client/http-client.ts";
import { AddressRules, isSameAddress } from "../../connect/addresses.ts";
import { makeConnector } from "../../connect/connector.ts";
import { KubeletClient } from "../../connect/kubelet-client.ts";
import type { KubeletOptions } from "../../connect/nodes.ts";
import type { Resources } from "../../resources/resources.ts";
import type { Connector } from "../../verbs/target.ts";
import type { ConnectConfig } from "./config.ts";
import { loadHandlers } from "./load-handlers.ts";

/** Makes what connects requests with nodes, pods and services. `ownPort` is where this server answers. Rejects when a file cannot be read. */
export async function prepareConnect(
  config: ConnectConfig,
  resources: Resources,
  authorizer: Authorizer,
  ownPort: () => number,
): Promise<Connector & { close(): void }> {
  const { access, random, features, clock } = resources;
  const kubelet = await readKubeletOptions(config);
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
  });
  return {
    ...connector,
    close() {
      client.http.close();
      http.close();
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

async function readKubeletOptions(config: ConnectConfig): Promise<KubeletOptions> {
  const { kubeletClientCertificate: certFile, kubeletClientKey: keyFile, kubeletCertificateAuthority: caFile } = config;
  if ((certFile === undefined) !== (keyFile === undefined)) {
    throw new Error("--kubelet-client-certificate and --kubelet-client-key need each other");
  }
  const read = (file: string | undefined) => (file === undefined ? undefined : readFile(file, "utf8"));
  const [cert, key, authority] = await Promise.all([read(certFile), read(keyFile), read(caFile)]);
  return {
    preferredAddressTypes: config.kubeletPreferredAddressTypes,
    timeoutMs: config.kubeletTimeoutMs,
    ...(cert !== undefined && key !== undefined && { certificate: { cert, key } }),
    ...(authority !== undefined && { authority }),
  };
}
