import { networkInterfaces } from "node:os";
import type { Config } from "./config.ts";

/** Where a server listens, and under which address it wants to be known. */
type Addresses = Pick<Config, "bindAddress" | "advertiseAddress">;

const UNSPECIFIED: readonly string[] = ["0.0.0.0", "::"];
const UNREACHABLE = /^(?:127\.|0\.0\.0\.0$|::1?$)/;

/** Compat: `--advertise-address`, unless it names no address or all of them. */
function advertised({ advertiseAddress }: Addresses): string | undefined {
  return advertiseAddress === undefined || UNSPECIFIED.includes(advertiseAddress) ? undefined : advertiseAddress;
}

/** An address under which others reach this machine: the one it listens on, or one of its network. */
function reachableAddress(bindAddress: string): string | undefined {
  if (!UNREACHABLE.test(bindAddress)) return bindAddress;
  const candidates = Object.values(networkInterfaces()).flatMap((addresses) => addresses ?? []);
  return candidates.find(({ internal, family }) => !internal && family === "IPv4")?.address;
}

/**
 * The address that the endpoints of the Service kubernetes have for this server. Compat: with an `--advertise-address` of
 * loopback kube-apiserver starts only if it announces nothing (`--endpoint-reconciler-type=none`); here nothing is announced.
 */
export function announcedAddress(addresses: Addresses): string | undefined {
  const address = advertised(addresses) ?? reachableAddress(addresses.bindAddress);
  return address === undefined || UNREACHABLE.test(address) ? undefined : address;
}

/** Upstream's `ExternalAddress`: host and port under which others reach this server. */
export function externalAddress(addresses: Addresses, port: number): string {
  const { bindAddress } = addresses;
  const address = advertised(addresses) ?? reachableAddress(bindAddress) ?? bindAddress;
  return `${printHost(address)}:${port}`;
}

/** Where programs on this machine reach a server that listens there. */
export function localUrl(bindAddress: string, port: number): string {
  return `https://${printHost(UNSPECIFIED.includes(bindAddress) ? "127.0.0.1" : bindAddress)}:${port}`;
}

const printHost = (address: string): string => (address.includes(":") ? `[${address}]` : address);
