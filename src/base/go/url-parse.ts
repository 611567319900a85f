import { AddressError, parseAddr } from "./netip.ts";
import { quote } from "./quote.ts";

/** An error of Go's net/url. */
export class UrlError extends Error {}

/** A URL as parsed by Go's url.Parse. */
export interface GoUrl {
  readonly scheme: string;
  readonly opaque: string;
  readonly user: string | undefined;
  readonly host: string;
  readonly escapedPath: string;
  readonly query: string;
  /** Whether the URL ends with a question mark and no query. */
  readonly forceQuery: boolean;
  readonly omitHost: boolean;
  readonly fragment: string;
}

/** Parses a URL like Go's url.Parse. Throws UrlError. */
export function parseUrl(text: string): GoUrl {
  const hash = text.indexOf("#");
  const whole = hash < 0 ? text : text.slice(0, hash);
  const fragment = hash < 0 ? "" : text.slice(hash + 1);
  const parsed = named(whole, () => parse(whole, false));
  if (fragment !== "") named(text, () => checkEscapes(fragment));
  return { ...parsed, fragment };
}

/** Parses an absolute URI or path like Go's url.ParseRequestURI, which has no fragments. Throws UrlError. */
export function parseRequestUri(text: string): GoUrl {
  return named(text, () => parse(text, true));
}

function named<T>(text: string, run: () => T): T {
  try {
    return run();
  } catch (error) {
    if (error instanceof UrlError) throw new UrlError(`parse ${quote(text)}: ${error.message}`);
    throw error;
  }
}

const EMPTY: GoUrl = {
  scheme: "",
  opaque: "",
  user: undefined,
  host: "",
  escapedPath: "",
  query: "",
  forceQuery: false,
  omitHost: false,
  fragment: "",
};

function parse(text: string, viaRequest: boolean): GoUrl {
  for (let i = 0; i < text.length; i++) {
    const code = text.charCodeAt(i);
    if (code < 0x20 || code === 0x7f) throw new UrlError("net/url: invalid control character in URL");
  }
  if (text === "" && viaRequest) throw new UrlError("empty url");
  if (text === "*") return { ...EMPTY, escapedPath: "*" };
  const [scheme, afterScheme] = splitScheme(text);
  const mark = afterScheme.indexOf("?");
  const forceQuery = mark >= 0 && mark === afterScheme.length - 1;
  let rest = mark < 0 ? afterScheme : afterScheme.slice(0, mark);
  const query = mark < 0 ? "" : afterScheme.slice(mark + 1);
  const url = { ...EMPTY, scheme: scheme.toLowerCase(), query, forceQuery };
  if (!rest.startsWith("/")) {
    if (scheme !== "") return { ...url, opaque: rest };
    if (viaRequest) throw new UrlError("invalid URI for request");
    if ((rest.split("/", 1)[0] ?? "").includes(":")) {
      throw new UrlError("first path segment in URL cannot contain colon");
    }
  }
  let authority: { user: string | undefined; host: string } = { user: undefined, host: "" };
  let omitHost = false;
  if ((scheme !== "" || (!viaRequest && !rest.startsWith("///"))) && rest.startsWith("//")) {
    const end = rest.indexOf("/", 2);
    authority = parseAuthority(url.scheme, end < 0 ? rest.slice(2) : rest.slice(2, end));
    rest = end < 0 ? "" : rest.slice(end);
  } else if (scheme !== "" && rest.startsWith("/")) omitHost = true;
  return { ...url, ...authority, omitHost, escapedPath: escapedPath(rest) };
}

function splitScheme(text: string): [scheme: string, rest: string] {
  if (text.startsWith(":")) throw new UrlError("missing protocol scheme");
  const [, scheme] = /^([A-Za-z][A-Za-z0-9+.-]*):/.exec(text) ?? [];
  return scheme === undefined ? ["", text] : [scheme, text.slice(scheme.length + 1)];
}

function parseAuthority(scheme: string, authority: string): { user: string | undefined; host: string } {
  const at = authority.lastIndexOf("@");
  const host = parseHost(scheme, authority.slice(at + 1));
  if (at < 0) return { user: undefined, host };
  const user = authority.slice(0, at);
  if (!/^[A-Za-z0-9._:~!$&'()*+,;=%@-]*$/.test(user)) throw new UrlError("net/url: invalid userinfo");
  checkEscapes(user);
  return { user, host };
}

const isPort = (text: string) => /^(?::[0-9]*)?$/.test(text);

function parseHost(scheme: string, host: string): string {
  const open = host.lastIndexOf("[");
  if (open > 0) throw new UrlError("invalid IP-literal");
  if (open === 0) return parseBracketed(host);
  let colon = host.indexOf(":");
  if (colon >= 0) {
    if (scheme !== "http" && scheme !== "https") colon = host.lastIndexOf(":");
    if (!isPort(host.slice(colon))) throw new UrlError(`invalid port ${quote(host.slice(colon))} after host`);
  }
  return unescapeHost(host);
}

function parseBracketed(host: string): string {
  const close = host.lastIndexOf("]");
  if (close < 0) throw new UrlError("missing ']' in host");
  const port = host.slice(close + 1);
  if (!isPort(port)) throw new UrlError(`invalid port ${quote(port)} after host`);
  const zoneAt = host.indexOf("%25");
  const name = host.slice(1, close);
  const plain = zoneAt < 0 || zoneAt > close ? unescapeHost(name) : name.replace("%25", "%");
  try {
    if (parseAddr(plain).bytes.length === 4) throw new UrlError("invalid IP-literal");
  } catch (error) {
    if (error instanceof AddressError) throw new UrlError(`invalid host: ${error.message}`);
    throw error;
  }
  return `[${plain}]${port}`;
}

function unescapeHost(host: string): string {
  for (let i = 0; i < host.length; i++) {
    const char = host[i] as string;
    if (char === "%") {
      const encoded = host.slice(i, i + 3);
      if (!/^%[0-9A-Fa-f]{2}$/.test(encoded)) throw new UrlError(`invalid URL escape ${quote(encoded)}`);
      if (/^%[0-7]/.test(encoded) && encoded !== "%25") throw new UrlError(`invalid URL escape ${quote(encoded)}`);
    } else if (char < "\x80" && !/[A-Za-z0-9._~!$&'()*+,;=:[\]<>"-]/.test(char)) {
      throw new UrlError(`invalid character ${quote(char)} in host name`);
    }
  }
  return decodeText(host);
}

function checkEscapes(text: string): void {
  const bad = /%(?![0-9A-Fa-f]{2}).{0,2}/su.exec(text);
  if (bad !== null) throw new UrlError(`invalid URL escape ${quote(bad[0])}`);
}

/** Decodes percent-escapes. Invalid UTF-8 becomes U+FFFD. Throws UrlError. */
export function decodeText(text: string): string {
  checkEscapes(text);
  return text.replace(/(?:%[0-9A-Fa-f]{2})+/g, (escaped) =>
    Buffer.from(escaped.replaceAll("%", ""), "hex").toString("utf8"),
  );
}

/** Compat: URL.EscapedPath keeps the path as written if it is a valid encoding, and otherwise escapes it again. */
function escapedPath(path: string): string {
  checkEscapes(path);
  if (/^[A-Za-z0-9_.~$&+,/:;=@!'()*%[\]-]*$/.test(path)) return path;
  let result = "";
  for (const byte of Buffer.from(decodeText(path))) {
    const char = String.fromCharCode(byte);
    const isPlain = /[A-Za-z0-9_.~$&+,/:;=@-]/.test(char);
    result += isPlain ? char : `%${byte.toString(16).toUpperCase().padStart(2, "0")}`;
  }
  return result;
}

/** The host without its port and brackets. */
export function hostName({ host }: GoUrl): string {
  const name = withoutPort(host);
  return name.startsWith("[") && name.endsWith("]") ? name.slice(1, -1) : name;
}

const withoutPort = (host: string) => {
  const colon = host.lastIndexOf(":");
  return colon >= 0 && isPort(host.slice(colon)) ? host.slice(0, colon) : host;
};

/** The port as written. Empty if there is no port. */
export const portOf = ({ host }: GoUrl): string => host.slice(withoutPort(host).length + 1);

/** The query values by name. Pairs with malformed escapes or a semicolon are skipped. */
export function queryValues({ query }: GoUrl): Map<string, string[]> {
  const values = new Map<string, string[]>();
  for (const pair of query.split("&")) {
    if (pair === "" || pair.includes(";")) continue;
    const equals = pair.indexOf("=");
    try {
      const name = unescapeQuery(equals < 0 ? pair : pair.slice(0, equals));
      const value = unescapeQuery(equals < 0 ? "" : pair.slice(equals + 1));
      const known = values.get(name);
      if (known === undefined) values.set(name, [value]);
      else known.push(value);
    } catch (error) {
      if (!(error instanceof UrlError)) throw error;
    }
  }
  return values;
}

const unescapeQuery = (text: string) => decodeText(text.replaceAll("+", " "));

/** Prints a URL like Go's URL.String. */
export function printUrl(url: GoUrl): string {
  let text = url.scheme === "" ? "" : `${url.scheme}:`;
  if (url.opaque !== "") text += url.opaque;
  else {
    const hasUser = url.user !== undefined;
    const isBare = url.omitHost && url.host === "" && !hasUser;
    if ((url.scheme !== "" || url.host !== "" || hasUser) && !isBare) {
      if (url.host !== "" || url.escapedPath !== "" || hasUser) text += "//";
      if (hasUser) text += `${url.user}@`;
      text += url.host;
    }
    text += url.escapedPath;
  }
  if (url.forceQuery || url.query !== "") text += `?${url.query}`;
  return url.fragment === "" ? text : `${text}#${url.fragment}`;
}
