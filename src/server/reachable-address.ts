import { networkInterfaces } from "node:os";

const UNREACHABLE = /^(?:127\.|0\.0\.0\.0$|::1?$)/;

/** An address under which others reach this machine: the one it listens on, or one of its network. */
export function reachableAddress(bindAddress: string): string | undefined {
  if (!UNREACHABLE.test(bindAddress)) return bindAddress;
  const candidates = Object.values(networkInterfaces()).flatMap((addresses) => addresses ?? []);
  return candidates.find(({ internal, family }) => !internal && family === "IPv4")?.address;
}

/** Upstream's `ExternalAddress`: host and port under which others reach this server. */
export function externalAddress(bindAddress: string, port: number): string {
  const address = reachableAddress(bindAddress) ?? bindAddress;
  return address.includes(":") ? `[${address}]:${port}` : `${address}:${port}`;
}
