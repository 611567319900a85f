import { type ConfigOf, group, libraryOption, option } from "../../../base/options/option.ts";
import { duration, file, isRecord, list, programValue } from "../../../base/options/value-types.ts";
import type { Handlers } from "../handlers/handlers.ts";

/** Options about connections to nodes, pods and services. */
export const connectOptions = {
  connect: group({
    kubeletClientCertificate: option(
      "kubelet-client-certificate",
      file("certificates"),
      "client certificate for kubelets",
    ),
    kubeletClientKey: option("kubelet-client-key", file("a private key"), "private key of that certificate"),
    kubeletCertificateAuthority: option(
      "kubelet-certificate-authority",
      file("certificates"),
      "CA bundle for the serving certificates of kubelets; if omitted, they are not verified",
    ),
    kubeletPreferredAddressTypes: option(
      "kubelet-preferred-address-types",
      list("types"),
      "types of node addresses to connect to, in order of preference",
      { default: ["Hostname", "InternalDNS", "InternalIP", "ExternalDNS", "ExternalIP"] },
    ),
    kubeletTimeoutMs: option("kubelet-timeout", duration, "time limit for connecting to a node", { default: 5000 }),
    allowProxyTo: option(
      "allow-proxy-to",
      list("cidrs"),
      "CIDRs that the proxy subresources of Pods, Services and Nodes may reach although they are blocked by default (loopback, link-local, metadata services)",
      { default: [] },
    ),
    handlersFile: option(
      "handlers",
      file(),
      "module whose export `handlers` implements exec, logs and port-forward of Pods, and maps Services to local ports; see docs/connect.md",
    ),
    handlers: libraryOption(
      programValue<Handlers>("Handlers", "an object", isRecord),
      "functions that answer for pods and services instead of nodes",
    ),
  }),
};

/** How to connect to nodes, pods and services. */
export type ConnectConfig = ConfigOf<typeof connectOptions>["connect"];
