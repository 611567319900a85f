import type { ApiRequest } from "../../base/api/call.ts";
import { parseLooseAddress, printAddress } from "../../base/net/ip-address.ts";

/**
 * Compat: SourceIPs of k8s.io/apimachinery: the addresses of X-Forwarded-For and X-Real-Ip, then the address of the
 * connection.
 */
export function sourceAddresses({ headers, remoteAddress }: ApiRequest): string[] {
  const found: string[] = [];
  for (const part of first(headers["x-forwarded-for"]).split(",", MAX_PROXIES)) {
    const address = canonical(part.trim());
    if (address !== undefined) found.push(address);
  }
  const real = canonical(first(headers["x-real-ip"]));
  if (real !== undefined && !found.includes(real)) found.push(real);
  const remote = canonical(remoteAddress ?? "");
  if (remote !== undefined && found.at(-1) !== remote) found.push(remote);
  return found;
}

const MAX_PROXIES = 100;

function first(header: string | readonly string[] | undefined): string {
  return typeof header === "string" ? header : (header?.[0] ?? "");
}

function canonical(text: string): string | undefined {
  const bytes = text === "" ? undefined : parseLooseAddress(text);
  return bytes && printAddress(bytes);
}
