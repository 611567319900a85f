import type { Handlers } from "../../connect/handlers/handlers.ts";

/** How nodes, pods and services are reached. */
export interface ConnectConfig {
  readonly kubeletClientCertificate?: string;
  readonly kubeletClientKey?: string;
  readonly kubeletCertificateAuthority?: string;
  readonly kubeletPreferredAddressTypes: readonly string[];
  readonly kubeletTimeoutMs: number;
  /** Ranges that proxies may reach although they are refused otherwise: loopback, link-local, metadata services. */
  readonly allowProxyTo: readonly string[];
  /** What stands behind pods and services in the place of nodes. */
  readonly handlers?: Handlers;
  /** The same from a module that exports `handlers`. */
  readonly handlersFile?: string;
}

/** As kube-apiserver does. */
export const defaultConnectConfig: ConnectConfig = {
  kubeletPreferredAddressTypes: ["Hostname", "InternalDNS", "InternalIP", "ExternalDNS", "ExternalIP"],
  kubeletTimeoutMs: 5000,
  allowProxyTo: [],
};
