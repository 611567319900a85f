import type { ApiRequest } from "../../base/api/call.ts";

/** Headers with which an authenticating proxy names the user, all in lower case. */
export interface ProxyHeaders {
  readonly names: readonly string[];
  /** Prefixes of header names. */
  readonly prefixes: readonly string[];
}

/** Removed from every request, even if this server does not use them. */
const STANDARD: ProxyHeaders = {
  names: ["x-remote-user", "x-remote-uid", "x-remote-group"],
  prefixes: ["x-remote-extra-"],
};

const STANDARD_START = "x-remote-";

/**
 * Removes the credentials from the headers of a request: `Authorization`, the standard headers of authenticating
 * proxies, and the configured ones. Otherwise a backend that the request is forwarded to would trust them.
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
  // Last, because iterating over an object after a `delete` is slow.
  if (own.authorization !== undefined) delete own.authorization;
}

function isProxyHeader(name: string, { names, prefixes }: ProxyHeaders): boolean {
  if (names.includes(name)) return true;
  for (const prefix of prefixes) if (name.startsWith(prefix)) return true;
  return false;
}
