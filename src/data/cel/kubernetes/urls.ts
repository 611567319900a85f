import {
  type GoUrl,
  hostName,
  parseRequestUri,
  parseUrl,
  portOf,
  printUrl,
  queryValues,
  UrlError,
} from "../../../base/go/url-parse.ts";
import { spend, spendOnText } from "../cost/work.ts";
import type { Library } from "../standard/library.ts";
import { EntryMap } from "../values/maps.ts";
import { boolType, listType, mapType, stringType, structType } from "../values/types.ts";
import { ArrayList, CelError, Foreign, type Value } from "../values/value.ts";
import { declare, global, member } from "./declare.ts";

const urlType = structType("kubernetes.URL");

class Url extends Foreign {
  override get goType(): string {
    return "cel.URL";
  }
  readonly parts: GoUrl;
  constructor(parts: GoUrl) {
    super();
    this.parts = parts;
  }
  get type() {
    return urlType;
  }
  equals(other: Foreign): boolean {
    return other instanceof Url && printUrl(this.parts) === printUrl(other.parts);
  }
}

function parse(text: string): Value {
  spendOnText(text, "each");
  try {
    parseRequestUri(text);
    return new Url(parseUrl(text));
  } catch (error) {
    if (!(error instanceof UrlError)) throw error;
    return new CelError(`URL parse error during conversion from string: ${error.message}`);
  }
}

function isUrl(text: string): boolean {
  spendOnText(text, "each");
  try {
    parseRequestUri(text);
    return true;
  } catch (error) {
    if (!(error instanceof UrlError)) throw error;
    return false;
  }
}

const part = (name: string, id: string, get: (parts: GoUrl) => string) =>
  declare(
    name,
    member(id, [urlType], stringType, ({ parts }: Url) => get(parts)),
  );

function query({ parts }: Url): Value {
  spend(parts.query.length);
  return EntryMap.of([...queryValues(parts)].map(([name, values]) => [name, new ArrayList(values)] as const));
}

/** kubernetes.urls: url, isURL and the parts of URLs. */
export const urlsLibrary: Library = {
  name: "kubernetes.urls",
  functions: [
    declare("url", global("string_to_url", [stringType], urlType, parse)),
    part("getScheme", "url_get_scheme", ({ scheme }) => scheme),
    part("getHost", "url_get_host", ({ host }) => host),
    part("getHostname", "url_get_hostname", hostName),
    part("getPort", "url_get_port", portOf),
    part("getEscapedPath", "url_get_escaped_path", ({ escapedPath }) => escapedPath),
    declare("getQuery", member("url_get_query", [urlType], mapType(stringType, listType(stringType)), query)),
    declare("isURL", global("is_url_string", [stringType], boolType, isUrl)),
  ],
};
