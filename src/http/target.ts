/** What a request line asks for. */
export interface RequestTarget {
  /** Percent-decoded as a whole: an encoded slash separates segments like a plain one. */
  readonly path: string;
  /** Path and query as they were sent. */
  readonly uri: string;
  /** What follows the question mark, as it was sent. */
  readonly rawQuery: string;
}

/** Reads a request target. Undefined when its percent encoding is broken, which the real server refuses outright. */
export function parseTarget(url: string): RequestTarget | undefined {
  const origin = url.startsWith("/") ? url : originForm(url);
  const mark = origin.indexOf("?");
  const rawPath = mark < 0 ? origin : origin.slice(0, mark);
  const rawQuery = mark < 0 ? "" : origin.slice(mark + 1);
  const path = rawPath.includes("%") ? decodePath(rawPath) : rawPath;
  return path === undefined ? undefined : { path, uri: origin, rawQuery };
}

// Proxies send `GET http://host/path`, and `OPTIONS *` exists.
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
    // Well-formed escapes of bytes that are no UTF-8.
    const bytes = rawPath.replace(/%[0-9a-fA-F]{2}/g, (triplet) =>
      String.fromCharCode(Number.parseInt(triplet.slice(1), 16)),
    );
    return Buffer.from(bytes, "latin1").toString("utf8");
  }
}

// Shared: nobody changes the query of a request.
const NO_QUERY = new URLSearchParams();

/**
 * Compat: Go's `url.ParseQuery` refuses parameters with a semicolon or broken escapes, and kube-apiserver goes on
 * without them.
 */
export function parseQuery(rawQuery: string): URLSearchParams {
  if (rawQuery === "") return NO_QUERY;
  const isClean = !rawQuery.includes(";") && !(rawQuery.includes("%") && BROKEN_ESCAPE.test(rawQuery));
  if (isClean) return new URLSearchParams(rawQuery);
  const kept = rawQuery.split("&").filter((part) => !part.includes(";") && !BROKEN_ESCAPE.test(part));
  return new URLSearchParams(kept.join("&"));
}

const BROKEN_ESCAPE = /%(?![0-9a-fA-F]{2})/;
