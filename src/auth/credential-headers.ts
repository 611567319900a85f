import type { ApiRequest } from "../api/call.ts";

/** Headers by which an authenticating proxy speaks for others, all in lower case. */
export interface ProxyHeaders {
  readonly names: readonly string[];
  /** Beginnings of names. */
  readonly prefixes: readonly string[];
}

/** Those that are credentials everywhere, whether this server goes by them or not. */
const STANDARD: ProxyHeaders = {
  names: ["x-remote-user", "x-remote-uid", "x-remote-group"],
  prefixes: ["x-remote-extra-"],
};

const STANDARD_START = "x-remote-";

/**
 * Removes the credentials of a request from its headers: `Authorization`, the standard headers of authenticating proxies
 * and those that are configured. What is behind authentication, such as a server that a request is passed on to, would
 * believe them.
 */
export function hideCredentials(headers: ApiRequest["headers"], configured: ProxyHeaders | undefined): void {
  const own = headers as Record<string, unknown>;
  for (const name in headers) {
    if (
      (name.startsWith(STANDARD_START) && isProxyHeader(name, STANDARD)) ||
      (configured && isProxyHeader(name, configured))
    )
      delete own[name];
  }
  // Last, since an object that has lost a member is slow to go through.
  if (own.authorization !== undefined) delete own.authorization;
}

function isProxyHeader(name: string, { names, prefixes }: ProxyHeaders): boolean {
  if (names.includes(name)) return true;
  for (const prefix of prefixes) if (name.startsWith(prefix)) return true;
  return false;
}
