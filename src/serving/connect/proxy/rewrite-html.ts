/** Attributes that are URLs, by element. Upstream: `atomsToAttrs`. */
const URL_ATTRIBUTES: ReadonlyMap<string, readonly string[]> = new Map(
  Object.entries({
    a: "href",
    applet: "codebase",
    area: "href",
    audio: "src",
    base: "href",
    blockquote: "cite",
    body: "background",
    button: "formaction",
    command: "icon",
    del: "cite",
    embed: "src",
    form: "action",
    frame: "longdesc src",
    head: "profile",
    html: "manifest",
    iframe: "longdesc src",
    img: "longdesc src usemap",
    input: "src usemap formaction",
    ins: "cite",
    link: "href",
    object: "classid codebase data usemap",
    q: "cite",
    script: "src",
    source: "src",
    video: "poster src",
  }).map(([element, names]) => [element, names.split(" ")]),
);

/** Elements whose content is raw text up to their end tag. */
const RAW_TEXT: ReadonlySet<string> = new Set(
  "iframe noembed noframes noscript plaintext script style title textarea xmp".split(" "),
);

/** Markup that is unfinished after this much text is passed through unchanged. */
const MAX_MARKUP = 64 * 1024;

/**
 * Rewrites the URLs of a page piece by piece. Each character is a byte (latin1), so pages in any ASCII-compatible
 * encoding are preserved. Start tags are printed like Go's `html.Token.String`.
 */
export class HtmlRewriter {
  readonly #rewrite: (url: string) => string;
  #rest = "";
  /** The raw text element being read, or empty. */
  #rawElement = "";

  constructor(rewrite: (url: string) => string) {
    this.#rewrite = rewrite;
  }

  /** Adds a piece and returns the output so far. */
  push(text: string): string {
    this.#rest += text;
    return this.#take(false);
  }

  /** Returns the rest of the output. */
  end(): string {
    return this.#take(true);
  }

  #take(isLast: boolean): string {
    const text = this.#rest;
    let out = "";
    let at = 0;
    while (at < text.length) {
      const open = this.#rawElement === "" ? text.indexOf("<", at) : this.#endOfRawText(text, at);
      const markup = open < 0 ? text.length : open;
      if (open < 0 && this.#rawElement !== "" && !isLast) {
        // The end tag may be split between two pieces.
        const safe = Math.max(at, text.length - this.#rawElement.length - 2);
        out += text.slice(at, safe);
        at = safe;
        break;
      }
      out += text.slice(at, markup);
      at = markup;
      if (at >= text.length) break;
      this.#rawElement = "";
      const end = endOfMarkup(text, at);
      if (end < 0) {
        if (!isLast && text.length - at < MAX_MARKUP) break;
        out += text.slice(at);
        at = text.length;
        break;
      }
      out += this.#markup(text.slice(at, end));
      at = end;
    }
    this.#rest = text.slice(at);
    return out;
  }

  #endOfRawText(text: string, from: number): number {
    if (this.#rawElement === "plaintext") return -1;
    const wanted = `</${this.#rawElement}`;
    for (let at = text.indexOf("</", from); at >= 0; at = text.indexOf("</", at + 2)) {
      if (text.slice(at, at + wanted.length).toLowerCase() === wanted) return at;
    }
    return -1;
  }

  #markup(text: string): string {
    const tag = readTag(text);
    if (tag === undefined) return text;
    if (!tag.isSelfClosing && RAW_TEXT.has(tag.name)) this.#rawElement = tag.name;
    const urls = URL_ATTRIBUTES.get(tag.name) ?? [];
    const attributes = tag.attributes.map(([name, value]) => {
      const plain = withoutEntities(value);
      const next = urls.includes(name) ? this.#rewrite(plain) : plain;
      return ` ${name}="${next === plain && plain === value ? quoteValue(value) : quoteValue(next)}"`;
    });
    return `<${tag.name}${attributes.join("")}${tag.isSelfClosing ? "/>" : ">"}`;
  }
}

/** The end of the markup that starts here. -1 if it is incomplete. */
function endOfMarkup(text: string, start: number): number {
  if (text.startsWith("<!--", start)) {
    const end = text.indexOf("-->", start + 4);
    return end < 0 ? -1 : end + 3;
  }
  if (start + 1 >= text.length) return -1;
  if (!/[a-zA-Z/!?]/.test(text[start + 1] ?? "")) return start + 1;
  let quote = "";
  for (let at = start + 1; at < text.length; at++) {
    const character = text[at] ?? "";
    if (quote !== "") {
      if (character === quote) quote = "";
    } else if (character === ">") return at + 1;
    else if ((character === '"' || character === "'") && text[lastOf(text, at)] === "=") quote = character;
  }
  return -1;
}

/** Index of the last non-space character before a position. */
function lastOf(text: string, place: number): number {
  let at = place - 1;
  while (at > 0 && /\s/.test(text[at] ?? "")) at--;
  return at;
}

interface Tag {
  readonly name: string;
  readonly attributes: readonly (readonly [name: string, value: string])[];
  readonly isSelfClosing: boolean;
}

/** Parses a start tag. Undefined for other markup. */
function readTag(text: string): Tag | undefined {
  const name = /^<([a-zA-Z][^\s/>]*)/.exec(text)?.[1];
  if (name === undefined) return undefined;
  const attributes: (readonly [string, string])[] = [];
  const pattern = /[\s/]*([^\s=/>][^\s=/>]*)(?:\s*=\s*(?:"([^"]*)"|'([^']*)'|([^\s>"'][^\s>]*))?)?/y;
  pattern.lastIndex = name.length + 1;
  for (let found = pattern.exec(text); found !== null; found = pattern.exec(text)) {
    attributes.push([(found[1] ?? "").toLowerCase(), found[2] ?? found[3] ?? found[4] ?? ""]);
  }
  return { name: name.toLowerCase(), attributes, isSelfClosing: text.endsWith("/>") };
}

const ENTITIES: ReadonlyMap<string, string> = new Map([
  ["amp", "&"],
  ["lt", "<"],
  ["gt", ">"],
  ["quot", '"'],
  ["apos", "'"],
  ["#34", '"'],
  ["#39", "'"],
  ["#x27", "'"],
]);

/** Decodes the entities of characters that `quoteValue` escapes again. Others are kept. */
function withoutEntities(value: string): string {
  return value.replace(/&(#?\w{1,4});/g, (whole, name: string) => ENTITIES.get(name) ?? whole);
}

const ESCAPES: ReadonlyMap<string, string> = new Map([
  ["&", "&amp;"],
  ["'", "&#39;"],
  ["<", "&lt;"],
  [">", "&gt;"],
  ['"', "&#34;"],
]);

/** Like Go's `html.EscapeString`, but keeps the entities that `withoutEntities` keeps. */
function quoteValue(value: string): string {
  return value.replace(/&(?:#?\w{1,32};)?|['<>"]/g, (found) => ESCAPES.get(found) ?? found);
}
