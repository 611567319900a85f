/** The target of a request line. */
export interface RequestTarget {
  /** Percent-decoded as a whole, so an encoded slash separates segments too. */
  readonly path: string;
  /** Path and query as sent. */
  readonly uri: string;
  /** The query as sent, without the question mark. */
  readonly rawQuery: string;
}

/** Parses a request target. Undefined if its percent encoding is invalid, which kube-apiserver rejects too. */
export function parseTarget(url: string): RequestTarget | undefined {
  const origin = url.startsWith("/") ? url : originForm(url);
  const mark = origin.indexOf("?");
  const rawPath = mark < 0 ? origin : origin.slice(0, mark);
  const rawQuery = mark < 0 ? "" : origin.slice(mark + 1);
  const path = rawPath.includes("%") ? decodePath(rawPath) : rawPath;
  return path === undefined ? undefined : { path, uri: origin, rawQuery };
}

// Proxies send `GET http://host/path`; `OPTIONS *` is valid, too.
function originForm(url: string): string {
  const absolute = /^[a-z][a-z0-9+.-]*:\/\/[^/?]*/i.exec(url);
  if (absolute === null) return url;
  const rest = url.slice(absolute[0].length);
  return rest.startsWith("/") ? rest : `/${rest}`;
}

function decodePath(rawPath: string): string | undefined {
  if (/%(?![0-9a-fA-F]{2})/.test(rawPath)) return undefined;
  try {
    return decodeURIComponent(rawPath);
  } catch {
    // Valid escapes of bytes that are not UTF-8.
    const bytes = rawPath.replace(/%[0-9a-fA-F]{2}/g, (triplet) =>
      String.fromCharCode(Number.parseInt(triplet.slice(1), 16)),
    );
    return Buffer.from(bytes, "latin1").toString("utf8");
  }
}

// Shared, because queries are never modified.
const NO_QUERY = new URLSearchParams();

/**
 * Compat: Go's `url.ParseQuery` rejects parameters with a semicolon or invalid escapes, and kube-apiserver ignores
 * them.
 */
export function parseQuery(rawQuery: string): URLSearchParams {
  if (rawQuery === "") return NO_QUERY;
  const isClean = !rawQuery.includes(";") && !(rawQuery.includes("%") && BROKEN_ESCAPE.test(rawQuery));
  if (isClean) return new URLSearchParams(rawQuery);
  const kept = rawQuery.split("&").filter((part) => !part.includes(";") && !BROKEN_ESCAPE.test(part));
  return new URLSearchParams(kept.join("&"));
}

const BROKEN_ESCAPE = /%(?![0-9a-fA-F]{2})/;
