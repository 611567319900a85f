import { escapePath, joinPath } from "../../lib/go/url-escape.ts";

/** By which way a page came to the client. */
export interface RewriteBase {
  /** The part of the request's path before what the backend saw, decoded. */
  readonly prefix: string;
  /** The backend, as `host:port`. */
  readonly backendHost: string;
  /** The Host that the client asked for. */
  readonly requestHost: string;
}

const URL_PARTS = /^(?:([a-zA-Z][a-zA-Z0-9+.-]*):)?(?:\/\/([^/?#]*))?([^?#]*)([\s\S]*)$/;

/**
 * A URL that a backend wrote, so that it leads through the proxy again: those of the backend itself, with an absolute path.
 * All others stay as they are. Upstream: `Transport.rewriteURL`.
 */
export function rewriteUrl(url: string, { prefix, backendHost, requestHost }: RewriteBase): string {
  const [, scheme, host = "", path = "", rest = ""] = URL_PARTS.exec(url) ?? [];
  if (host !== "" && host !== backendHost && host !== requestHost) return url;
  if (!path.startsWith("/")) return url;
  const decoded = decode(path);
  if (decoded === undefined) return url;
  const isAsked = host === requestHost && host !== "";
  const origin = isAsked ? `${scheme === undefined ? "" : `${scheme}:`}//${host}` : "";
  if (decoded.startsWith(prefix)) return `${origin}${path}${rest}`;
  return `${origin}${escapePath(joinPath(prefix, decoded))}${rest}`;
}

function decode(path: string): string | undefined {
  try {
    return decodeURIComponent(path);
  } catch {
    return undefined;
  }
}
