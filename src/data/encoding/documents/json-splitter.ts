import { parseJsonText } from "../../../base/util/parse-json.ts";
import { DocumentError, type RawDocument, requireShort, type Splitter } from "./document.ts";

const MAX_DEPTH = 10_000;
/** Significant characters outside of strings. */
const STRUCTURE = /["{}[\]\n]/g;
/** Characters that end a string, escape the next character, or end a line. */
const STRING_END = /["\\\n]/g;

/**
 * Splits a stream of JSON objects into values, and lists into items. Supports lists of `kubectl get -o json`, whose
 * items have their own kinds, and lists of a server, which name the kind of all items first. Ignores `---` between
 * values.
 */
export class JsonSplitter implements Splitter {
  /** Text that has not been returned yet. */
  #text = "";
  /** The position up to which `#text` has been scanned. */
  #at = 0;
  #line = 1;
  #depth = 0;
  #isInString = false;
  /** The last string at depth 1, and its start. */
  #name = "";
  #nameStart = -1;
  /** The start of the value or item in `#text`, and its line. */
  #start = -1;
  #startLine = 1;
  /** Whether `items` of the value are documents of their own. "unsure" until the first of them is read. */
  #items: "none" | "unsure" | "cut" | "whole" = "none";
  #itemStart = -1;
  #itemLine = 1;
  /** The kind of the items, if the list names it before them. */
  #type: RawDocument["type"];

  push(piece: string): RawDocument[] {
    this.#text += piece;
    const out: RawDocument[] = [];
    this.#scan(out);
    requireShort(this.#text.length, this.#startLine);
    return out;
  }

  end(): RawDocument[] {
    if (this.#depth > 0) throw new DocumentError(this.#line, "unexpected end of a JSON value");
    this.#requireGap(this.#text);
    this.#text = "";
    return [];
  }

  #scan(out: RawDocument[]): void {
    for (;;) {
      const pattern = this.#isInString ? STRING_END : STRUCTURE;
      pattern.lastIndex = this.#at;
      const found = pattern.exec(this.#text);
      // The escaped character may be in the next piece.
      if (found === null || (found[0] === "\\" && found.index + 1 >= this.#text.length)) {
        this.#at = found === null ? this.#text.length : found.index;
        this.#forget();
        return;
      }
      this.#at = found.index + 1;
      if (found[0] === "\n") this.#line++;
      else if (this.#isInString) this.#readString(found[0], found.index);
      else this.#readStructure(found[0], found.index, out);
    }
  }

  #readString(character: string, index: number): void {
    if (character === "\\") {
      this.#at = index + 2;
      return;
    }
    this.#isInString = false;
    if (this.#depth === 1) this.#name = this.#text.slice(this.#nameStart, index);
  }

  #readStructure(character: string, index: number, out: RawDocument[]): void {
    switch (character) {
      case '"':
        this.#isInString = true;
        this.#nameStart = index + 1;
        return;
      case "{":
      case "[":
        this.#open(character, index);
        return;
      default:
        this.#close(index, out);
    }
  }

  #open(character: string, index: number): void {
    if (this.#depth === 0) {
      this.#requireGap(this.#text.slice(0, index));
      if (character !== "{") throw new DocumentError(this.#line, "expected a JSON object");
      this.#start = index;
      this.#startLine = this.#line;
      this.#items = "none";
    } else if (this.#depth === 1 && character === "[" && this.#name === "items" && this.#items === "none") {
      this.#type = itemTypeOf(this.#text.slice(this.#start, this.#nameStart - 1));
      this.#items = "unsure";
    } else if (this.#depth === 2 && (this.#items === "unsure" || this.#items === "cut")) {
      this.#itemStart = index;
      this.#itemLine = this.#line;
    }
    if (++this.#depth > MAX_DEPTH) throw new DocumentError(this.#line, "values are nested too deeply");
  }

  #close(index: number, out: RawDocument[]): void {
    this.#depth--;
    if (this.#depth < 0) throw new DocumentError(this.#line, "unexpected closing bracket");
    if (this.#depth === 2 && this.#itemStart >= 0) this.#finishItem(index, out);
    else if (this.#depth === 0) this.#finish(index, out);
  }

  #finishItem(index: number, out: RawDocument[]): void {
    const text = this.#text.slice(this.#itemStart, index + 1);
    if (this.#items === "unsure") this.#items = this.#type || hasKind(text) ? "cut" : "whole";
    if (this.#items === "cut") {
      out.push({ text, line: this.#itemLine, ...(this.#type && { type: this.#type }) });
      // The rest of the list is not needed.
      this.#text = this.#text.slice(index + 1);
      this.#at = 0;
    }
    this.#itemStart = -1;
  }

  #finish(index: number, out: RawDocument[]): void {
    if (this.#items !== "cut") out.push({ text: this.#text.slice(this.#start, index + 1), line: this.#startLine });
    this.#text = this.#text.slice(index + 1);
    this.#at = 0;
    this.#start = -1;
  }

  /** Between values, nothing has to be kept. */
  #forget(): void {
    if (this.#depth > 0) return;
    this.#requireGap(this.#text);
  }

  #requireGap(text: string): void {
    if (/[^\s-]/.test(text)) throw new DocumentError(this.#line, "expected a JSON object");
  }
}

/** The item type of a list that begins like this, for example `{"kind":"PodList","apiVersion":"v1",`. */
function itemTypeOf(head: string): RawDocument["type"] {
  try {
    const { apiVersion, kind } = parseJsonText(`${head.trimEnd().replace(/,$/, "")}}`);
    const isList = typeof apiVersion === "string" && typeof kind === "string" && /.List$/.test(kind);
    return isList ? { apiVersion, kind: kind.slice(0, -"List".length) } : undefined;
  } catch {
    return undefined;
  }
}

function hasKind(text: string): boolean {
  try {
    const { apiVersion, kind } = parseJsonText(text);
    return typeof apiVersion === "string" && typeof kind === "string";
  } catch {
    return false;
  }
}
