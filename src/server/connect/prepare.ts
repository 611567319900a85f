import { lookup } from "node:dns/promises";
import { readFile } from "node:fs/promises";
import path from "node:path";
import { pathToFileURL } from "node:url";
import type { Authorizer } from "../../api/attributes.ts";
import { HttpClient } from "../../client/http-client.ts";
import { AddressRules } from "../../connect/addresses.ts";
import { makeConnector } from "../../connect/connector.ts";
import type { Handlers } from "../../connect/handlers/handlers.ts";
import { KubeletClient } from "../../connect/kubelet-client.ts";
import type { KubeletOptions } from "../../connect/nodes.ts";
import type { Resources } from "../../resources/resources.ts";
import type { Connector } from "../../verbs/target.ts";
import type { ConnectConfig } from "./config.ts";

/** Makes what connects requests with nodes, pods and services. Rejects when a file cannot be read. */
export async function prepareConnect(
  config: ConnectConfig,
  resources: Resources,
  authorizer: Authorizer,
): Promise<Connector & { close(): void }> {
  const { access, random, features, clock } = resources;
  const kubelet = await readKubeletOptions(config);
  const handlers = config.handlers ?? (await importHandlers(config.handlersFile));
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

/** Imports the module of `--handlers`. Rejects when it exports no `handlers`. */
async function importHandlers(file: string | undefined): Promise<Handlers> {
  if (file === undefined) return {};
  const { handlers } = await import(pathToFileURL(path.resolve(file)).href);
  if (typeof handlers !== "object" || handlers === null) throw new Error(`${file} exports no "handlers"`);
  return handlers;
}

async function resolve(host: string): Promise<string[]> {
  return (await lookup(host, { all: true })).map(({ address }) => address);
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
