import { escapePath, joinPath } from "../../../base/go/url-escape.ts";

/** How a page reached the client. */
export interface RewriteBase {
  /** The part of the request path before the backend's path, decoded. */
  readonly prefix: string;
  /** The backend as `host:port`. */
  readonly backendHost: string;
  /** The Host header of the request. */
  readonly requestHost: string;
}

const URL_PARTS = /^(?:([a-zA-Z][a-zA-Z0-9+.-]*):)?(?:\/\/([^/?#]*))?([^?#]*)([\s\S]*)$/;

/**
 * Rewrites a URL of the backend itself with an absolute path so that it leads through the proxy. Others are returned
 * unchanged. Upstream: `Transport.rewriteURL`.
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
