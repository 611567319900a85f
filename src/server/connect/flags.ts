import { type Command, Option } from "commander";
import { type ConnectConfig, defaultConnectConfig } from "./config.ts";

/** What the flags about nodes, pods and services were set to. */
export interface ConnectFlags {
  kubeletClientCertificate?: string;
  kubeletClientKey?: string;
  kubeletCertificateAuthority?: string;
  kubeletPreferredAddressTypes: string[];
  kubeletTimeout: number;
  allowProxyTo: string[];
  handlers?: string;
}

const words = (text: string): string[] => text.split(",").filter((word) => word !== "");

/** Adds the flags, under kube-apiserver's names where it has one. `duration` reads a span of time in milliseconds. */
export function addConnectFlags(command: Command, duration: (text: string) => number): Command {
  const { kubeletPreferredAddressTypes: types, kubeletTimeoutMs, allowProxyTo } = defaultConnectConfig;
  return command
    .option("--kubelet-client-certificate <file>", "certificate by which nodes know this server")
    .option("--kubelet-client-key <file>", "key of that certificate")
    .option(
      "--kubelet-certificate-authority <file>",
      "authority of the nodes' certificates; without it they are not verified",
    )
    .addOption(
      new Option("--kubelet-preferred-address-types <types>", "which addresses of nodes are used, best first")
        .argParser(words)
        .default([...types], types.join(",")),
    )
    .addOption(
      new Option("--kubelet-timeout <time>", "how long connecting with a node may take")
        .argParser(duration)
        .default(kubeletTimeoutMs, "5s"),
    )
    .addOption(
      new Option(
        "--allow-proxy-to <ranges>",
        "addresses such as 127.0.0.0/8 that proxies may reach besides those of clusters",
      )
        .argParser(words)
        .default([...allowProxyTo], "none"),
    )
    .option("--handlers <file>", "a module with what stands behind pods and services; see docs/connect.md");
}

/** Takes these flags out of all flags. */
export function takeConnectFlags<Flags extends ConnectFlags>(
  flags: Flags,
): { connect: ConnectConfig; rest: Omit<Flags, keyof ConnectFlags> } {
  const {
    kubeletClientCertificate,
    kubeletClientKey,
    kubeletCertificateAuthority,
    kubeletPreferredAddressTypes,
    kubeletTimeout: kubeletTimeoutMs,
    allowProxyTo,
    handlers: handlersFile,
    ...rest
  } = flags;
  const files = { kubeletClientCertificate, kubeletClientKey, kubeletCertificateAuthority };
  return { connect: { ...files, kubeletPreferredAddressTypes, kubeletTimeoutMs, allowProxyTo, handlersFile }, rest };
}
