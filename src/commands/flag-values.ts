import { isIP } from "node:net";
import { InvalidArgumentError } from "commander";
import { readDuration } from "../lib/go/duration.ts";
import { parseRange } from "../lib/ip-range.ts";
import type { StoreChoice } from "../server/config.ts";

/** What is wrong with the value of a flag: said behind the flag and the value. */
const refuse = (expected: string): never => {
  throw new InvalidArgumentError(expected);
};

/** Reads a TCP port. */
export function port(text: string): number {
  const value = Number(text);
  return /^\d{1,5}$/.test(text) && value <= 65_535 ? value : refuse("expected a port from 0 to 65535");
}

/** Reads `--store`. */
export function storeChoice(text: string): StoreChoice {
  if (text === "memory") return { type: "memory" };
  if (text.startsWith("sqlite:") && text.length > "sqlite:".length) {
    return { type: "sqlite", file: text.slice("sqlite:".length) };
  }
  const isEtcd = /^(etcd|https?):/.test(text);
  return refuse(
    isEtcd ? "expected memory or sqlite:FILE; for etcd there is --etcd-servers URL" : "expected memory or sqlite:FILE",
  );
}

/** Reads a domain. */
export function domain(text: string): string {
  const isDomain = /^[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)+$/.test(text);
  return isDomain ? text : refuse("expected a domain such as k8s.io");
}

/** Reads a span of time into milliseconds. Compat: written as Go's `time.ParseDuration` reads it, such as 5m0s. */
export function duration(text: string): number {
  const read = readDuration(text);
  if (typeof read === "string" || read < 0n) return refuse("expected a span of time such as 5m0s, or 0");
  return Number(read) / 1e6;
}

/** Compat: kube-apiserver's flag, which envtest sets. False would have to refuse `securityContext.privileged`. */
export function allowPrivileged(text: string): true {
  if (/^(1|t|T|true|True|TRUE)$/.test(text)) return true;
  return refuse("only true is known: admission by namespace refuses privileged containers");
}

/** Reads names with commas between them. */
export const words = (text: string): string[] => text.split(",").filter((word) => word !== "");

/** Reads `--etcd-servers`. */
export function etcdServers(text: string): string[] {
  const servers = words(text);
  if (servers.length === 0) return refuse("expected at least one URL such as http://127.0.0.1:2379");
  for (const server of servers) {
    const url = URL.parse(server);
    const isGood = url !== null && ["http:", "https:"].includes(url.protocol) && url.hostname !== "";
    if (!isGood) return refuse(`${JSON.stringify(server)} is no URL such as http://127.0.0.1:2379`);
    if (url.pathname !== "/" || url.search !== "" || url.username !== "") {
      return refuse(`${JSON.stringify(server)} has more than a scheme, a host and a port; keys have a --etcd-prefix`);
    }
  }
  return servers;
}

/** Reads an address to listen on. */
export function address(text: string): string {
  if (isIP(text) !== 0 || text === "localhost") return text;
  return refuse("expected an IP address of this machine such as 127.0.0.1, or 0.0.0.0 for all of them");
}

/** Reads an address by which others reach this machine. */
export function clusterAddress(text: string): string {
  return isIP(text) !== 0 ? text : refuse("expected an IP address by which others reach this machine");
}

/** Reads one range of addresses, or two of them, one of each family. */
export function addressRanges(text: string): string {
  const isGood = text.split(",").every((one) => parseRange(one) !== undefined);
  return isGood ? text : refuse("expected a range of addresses such as 10.0.0.0/24, or two with a comma between");
}

/** Reads the beginning of all keys in the store. */
export function keyPrefix(text: string): string {
  return text.startsWith("/") && text.length > 1 ? text : refuse("expected a path such as /registry");
}

/** Collects the values of a flag that may be repeated. */
export function repeated(text: string, before: readonly string[] = []): string[] {
  return [...before, text];
}
