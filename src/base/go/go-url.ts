import { parseAddress } from "../net/ip-address.ts";
import { quote } from "./quote.ts";

/** The parts of Go's `url.URL` that validation needs. */
export interface UrlParts {
  readonly scheme: string;
  readonly host: string;
  /** User name and password as written. Undefined if there is no "@". */
  readonly user: string | undefined;
  readonly query: string;
  readonly fragment: string;
}

/** An error of Go's `url.Parse`. The message is the wire text. */
export class UrlError extends Error {}

/** Compat: parses a URL like Go's `url.Parse`, which accepts almost everything. Throws UrlError. */
export function parseGoUrl(text: string): UrlParts {
  const hash = text.indexOf("#");
  const [whole, fragment] = hash < 0 ? [text, ""] : [text.slice(0, hash), text.slice(hash + 1)];
  try {
    const parts = parseWithoutFragment(whole);
    return { ...parts, fragment: decodeEscapes(fragment) };
  } catch (error) {
    if (!(error instanceof UrlError)) throw error;
    throw new UrlError(`parse ${quote(text)}: ${error.message}`);
  }
}

/**
 * Whether a text is an absolute URI or an absolute path. Upstream: Go's `url.ParseRequestURI`, which has no fragments.
 */
export function isRequestUri(text: string): boolean {
  if (text === "" || (!text.startsWith("/") && !/^(\*$|[A-Za-z][A-Za-z0-9+.-]*:)/.test(text))) return false;
  try {
    // Without a scheme, even two slashes begin a path.
    parseWithoutFragment(text.startsWith("/") ? text.replace(/^\/+/, "/") : text);
    return true;
  } catch (error) {
    if (error instanceof UrlError) return false;
    throw error;
  }
}

function parseWithoutFragment(text: string): Omit<UrlParts, "fragment"> {
  if (/\p{Cc}/u.test(text) && [...text].some((one) => one < " " || one === "\x7f"))
    throw new UrlError("net/url: invalid control character in URL");
  if (text === "*") return { scheme: "", host: "", user: undefined, query: "" };
  if (text.startsWith(":")) throw new UrlError("missing protocol scheme");
  const [, scheme = "", afterScheme = text] = /^([A-Za-z][A-Za-z0-9+.-]*):(.*)$/.exec(text) ?? [];
  const mark = afterScheme.indexOf("?");
  const [rest, query] = mark < 0 ? [afterScheme, ""] : [afterScheme.slice(0, mark), afterScheme.slice(mark + 1)];
  const parts = { scheme: scheme.toLowerCase(), host: "", user: undefined, query };
  if (!rest.startsWith("/")) {
    if (scheme !== "") return parts;
    if ((rest.split("/")[0] ?? "").includes(":")) {
      throw new UrlError("first path segment in URL cannot contain colon");
    }
  }
  if (!rest.startsWith("//") || (scheme === "" && rest.startsWith("///"))) {
    decodeEscapes(rest);
    return parts;
  }
  const [authority = ""] = rest.slice(2).split("/", 1);
  const found = parseAuthority(authority);
  decodeEscapes(rest.slice(2 + authority.length));
  return { ...parts, ...found };
}

function parseAuthority(authority: string): { host: string; user: string | undefined } {
  const at = authority.lastIndexOf("@");
  const host = parseHost(authority.slice(at + 1));
  if (at < 0) return { host, user: undefined };
  const user = authority.slice(0, at);
  if (!/^[A-Za-z0-9._:~!$&'()*+,;=%@-]*$/.test(user)) throw new UrlError("net/url: invalid userinfo");
  decodeEscapes(user);
  return { host, user };
}

function parseHost(host: string): string {
  const open = host.lastIndexOf("[");
  if (open > 0) throw new UrlError("invalid IP-literal");
  if (open === 0) return parseBracketed(host);
  const colon = host.indexOf(":");
  if (colon >= 0) requirePort(host.slice(colon));
  const bad = /[^A-Za-z0-9._~!$&'()*+,;=:[\]<>"%\u0080-\uffff-]/.exec(host);
  if (bad) throw new UrlError(`invalid character ${quote(bad[0])} in host name`);
  const badEscape = /%(?![89A-Fa-f][0-9A-Fa-f]).{0,2}/.exec(host);
  if (badEscape) throw new UrlError(`invalid URL escape ${quote(badEscape[0])}`);
  return host;
}

function parseBracketed(host: string): string {
  const close = host.lastIndexOf("]");
  if (close < 0) throw new UrlError("missing ']' in host");
  requirePort(host.slice(close + 1));
  const [address = ""] = host.slice(1, close).split("%25");
  const bytes = parseAddress(address);
  if (bytes === undefined) {
    throw new UrlError(`invalid host: ParseAddr(${quote(address)}): unable to parse IP`);
  }
  if (bytes.length === 4) throw new UrlError("invalid IP-literal");
  return host;
}

function requirePort(text: string): void {
  if (!/^(:[0-9]*)?$/.test(text)) throw new UrlError(`invalid port ${quote(text)} after host`);
}

function decodeEscapes(text: string): string {
  const bad = /%(?![0-9A-Fa-f]{2}).{0,2}/.exec(text);
  if (bad) throw new UrlError(`invalid URL escape ${quote(bad[0])}`);
  return text.replace(/(?:%[0-9A-Fa-f]{2})+/g, (escaped) =>
    Buffer.from(escaped.replaceAll("%", ""), "hex").toString("utf8"),
  );
}
