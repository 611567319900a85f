import { networkInterfaces } from "node:os";
import type { Config } from "./config.ts";

/** The configured addresses of a server. */
type Addresses = Pick<Config, "bindAddress" | "advertiseAddress">;

const UNSPECIFIED: readonly string[] = ["0.0.0.0", "::"];
const UNREACHABLE = /^(?:127\.|0\.0\.0\.0$|::1?$)/;

/** Compat: `--advertise-address`, unless it is missing or unspecified (0.0.0.0, ::). */
function advertised({ advertiseAddress }: Addresses): string | undefined {
  return advertiseAddress === undefined || UNSPECIFIED.includes(advertiseAddress) ? undefined : advertiseAddress;
}

/** An address of this machine that others can connect to: the bind address, or that of a network interface. */
function reachableAddress(bindAddress: string): string | undefined {
  if (!UNREACHABLE.test(bindAddress)) return bindAddress;
  const candidates = Object.values(networkInterfaces()).flatMap((addresses) => addresses ?? []);
  return candidates.find(({ internal, family }) => !internal && family === "IPv4")?.address;
}

/**
 * The address of this server in the endpoints of the Service kubernetes. Compat: with a loopback `--advertise-address`,
 * kube-apiserver requires `--endpoint-reconciler-type=none`. Here, no endpoint is written.
 */
export function announcedAddress(addresses: Addresses): string | undefined {
  const address = advertised(addresses) ?? reachableAddress(addresses.bindAddress);
  return address === undefined || UNREACHABLE.test(address) ? undefined : address;
}

/** Upstream: `ExternalAddress`: host and port that others connect to. */
export function externalAddress(addresses: Addresses, port: number): string {
  const { bindAddress } = addresses;
  const address = advertised(addresses) ?? reachableAddress(bindAddress) ?? bindAddress;
  return `${printHost(address)}:${port}`;
}

/** The URL for clients on this machine. */
export function localUrl(bindAddress: string, port: number): string {
  return `https://${printHost(UNSPECIFIED.includes(bindAddress) ? "127.0.0.1" : bindAddress)}:${port}`;
}

const printHost = (address: string): string => (address.includes(":") ? `[${address}]` : address);
