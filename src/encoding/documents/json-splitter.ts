import { DocumentError, type RawDocument, requireShort, type Splitter } from "./document.ts";

const MAX_DEPTH = 10_000;
/** What a character means outside of strings. */
const STRUCTURE = /["{}[\]\n]/g;
/** What ends a string, or hides what follows. */
const STRING_END = /["\\\n]/g;

/**
 * Cuts a stream of JSON objects into its values, and lists item by item: those that `kubectl get -o json` prints, whose items
 * have kinds of their own, and those that a server answers with, which name the kind of all items first. `---` between values is let through.
 */
export class JsonSplitter implements Splitter {
  /** Text that is not told yet. */
  #text = "";
  /** How far `#text` has been looked at. */
  #at = 0;
  #line = 1;
  #depth = 0;
  #isInString = false;
  /** The string that was read last at depth 1, and where it began. */
  #name = "";
  #nameStart = -1;
  /** Where the value or item begins in `#text`, and in which line. */
  #start = -1;
  #startLine = 1;
  /** Whether the value has `items` that are documents of their own; "unsure" until the first of them is read. */
  #items: "none" | "unsure" | "cut" | "whole" = "none";
  #itemStart = -1;
  #itemLine = 1;
  /** Of what kind the items are, if the list has said so before them. */
  #type: RawDocument["type"];

  push(piece: string): RawDocument[] {
    this.#text += piece;
    const out: RawDocument[] = [];
    this.#scan(out);
    requireShort(this.#text.length, this.#startLine);
    return out;
  }

  end(): RawDocument[] {
    if (this.#depth > 0) throw new DocumentError(this.#line, "the text ends within a JSON value");
    this.#requireGap(this.#text);
    this.#text = "";
    return [];
  }

  #scan(out: RawDocument[]): void {
    for (;;) {
      const pattern = this.#isInString ? STRING_END : STRUCTURE;
      pattern.lastIndex = this.#at;
      const found = pattern.exec(this.#text);
      // A character that an escape hides may be in the next piece.
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
    if (this.#depth < 0) throw new DocumentError(this.#line, "a bracket closes nothing");
    if (this.#depth === 2 && this.#itemStart >= 0) this.#finishItem(index, out);
    else if (this.#depth === 0) this.#finish(index, out);
  }

  #finishItem(index: number, out: RawDocument[]): void {
    const text = this.#text.slice(this.#itemStart, index + 1);
    if (this.#items === "unsure") this.#items = this.#type || hasKind(text) ? "cut" : "whole";
    if (this.#items === "cut") {
      out.push({ text, line: this.#itemLine, ...(this.#type && { type: this.#type }) });
      // What is left of the list says nothing more.
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

  /** Between values nothing has to be kept. */
  #forget(): void {
    if (this.#depth > 0) return;
    this.#requireGap(this.#text);
  }

  #requireGap(text: string): void {
    if (/[^\s-]/.test(text)) throw new DocumentError(this.#line, "expected a JSON object");
  }
}

/** The kind of the items of a list that begins so, e.g. `{"kind":"PodList","apiVersion":"v1",`. */
function itemTypeOf(head: string): RawDocument["type"] {
  try {
    const { apiVersion, kind } = JSON.parse(`${head.trimEnd().replace(/,$/, "")}}`);
    const isList = typeof apiVersion === "string" && typeof kind === "string" && /.List$/.test(kind);
    return isList ? { apiVersion, kind: kind.slice(0, -"List".length) } : undefined;
  } catch {
    return undefined;
  }
}

function hasKind(text: string): boolean {
  try {
    const { apiVersion, kind } = JSON.parse(text);
    return typeof apiVersion === "string" && typeof kind === "string";
  } catch {
    return false;
  }
}
