import { addAll } from "../../../base/util/add-all.ts";
import { type RawDocument, requireShort, type Splitter } from "./document.ts";

/** A document separator `---` or `...`, possibly followed by content. */
const BOUNDARY = /^(?:---|\.\.\.)(?:[ \t\r]|$)/;
const ITEMS = /^items:[ \t]*(?:#[^\n]*)?\r?$/;
const FIRST_ITEM = /^( *)- /;

/**
 * Splits a YAML stream at its document separators, and the `items` of a List as printed by `kubectl get -o yaml` into
 * items. Within a block mapping every line of a member is indented, so line starts are sufficient to find the end of an
 * item. An object of another kind that has `items` is not split: its items have no kind of their own.
 */
export class YamlSplitter implements Splitter {
  #rest = "";
  /** The number of the next line. */
  #line = 1;
  /** Lines of the document, without the items that were split off. */
  #document: string[] = [];
  #documentLine = 1;
  #item: string[] = [];
  #itemLine = 1;
  /** Number of buffered characters. */
  #size = 0;
  /** Spaces before the dash of each item. */
  #indent = "";
  /** The state of the parser. "first": in the first item, which decides whether this is a list of objects. */
  #mode: "members" | "before-items" | "first" | "items" = "members";
  /** Items were split off: the rest of the document is not needed. */
  #isList = false;

  push(piece: string): RawDocument[] {
    const out: RawDocument[] = [];
    const text = this.#rest + piece;
    let start = 0;
    for (let end = text.indexOf("\n", this.#rest.length); end >= 0; end = text.indexOf("\n", start)) {
      this.#take(text.slice(start, end), out);
      start = end + 1;
    }
    this.#rest = text.slice(start);
    requireShort(this.#rest.length, this.#line);
    return out;
  }

  end(): RawDocument[] {
    const out: RawDocument[] = [];
    if (this.#rest !== "") this.#take(this.#rest, out);
    this.#rest = "";
    this.#finish(out);
    return out;
  }

  #take(line: string, out: RawDocument[]): void {
    const number = this.#line++;
    if (BOUNDARY.test(line)) {
      this.#finish(out);
      this.#documentLine = number;
      // A document may begin on the line of its separator.
      if (line.startsWith("---")) this.#document.push(`   ${line.slice(3)}`);
      return;
    }
    // Directives precede documents.
    if (line.startsWith("%") && this.#document.length === 0) return;
    this.#size += line.length + 1;
    requireShort(this.#size, this.#isList ? this.#itemLine : this.#documentLine);
    if (this.#mode === "members") this.#takeMember(line);
    else if (this.#mode === "before-items") this.#takeFirst(line, number);
    else this.#takeItem(line, number, out);
  }

  #takeMember(line: string): void {
    if (!this.#isList && ITEMS.test(line)) this.#mode = "before-items";
    this.#document.push(line);
  }

  #takeFirst(line: string, number: number): void {
    const first = FIRST_ITEM.exec(line);
    if (first === null) {
      this.#document.push(line);
      if (!isBlank(line)) this.#mode = "members";
      return;
    }
    this.#indent = first[1] ?? "";
    this.#mode = "first";
    this.#begin(line, number);
  }

  #takeItem(line: string, number: number, out: RawDocument[]): void {
    const indent = this.#indent;
    const isNext = line.startsWith(indent) && line.startsWith("- ", indent.length);
    if (!isNext && (line.startsWith(`${indent} `) || isBlank(line))) {
      this.#item.push(line);
      return;
    }
    this.#finishItem(out);
    if (isNext && this.#mode === "items") {
      this.#begin(line, number);
      return;
    }
    this.#mode = "members";
    this.#document.push(line);
  }

  #begin(line: string, number: number): void {
    this.#itemLine = number;
    this.#item = [line];
  }

  /** Ends an item. It is a document if the first item has identified a list. */
  #finishItem(out: RawDocument[]): void {
    if (this.#mode === "first") {
      this.#isList = this.#isObject();
      this.#mode = this.#isList ? "items" : "members";
    }
    if (!this.#isList) addAll(this.#document, this.#item);
    else {
      const [first = "", ...others] = this.#item;
      const text = [`${this.#indent}  ${first.slice(this.#indent.length + 2)}`, ...others].join("\n");
      out.push({ text: `${text}\n`, line: this.#itemLine });
      this.#size = 0;
    }
    this.#item = [];
  }

  /** Whether the item has its own kind. */
  #isObject(): boolean {
    const start = this.#indent.length + 2;
    const has = (member: string) =>
      this.#item.some((line, index) => line.startsWith(member, start) && (index === 0 || isIndented(line, start)));
    return has("apiVersion:") && has("kind:");
  }

  #finish(out: RawDocument[]): void {
    if (this.#mode === "first" || this.#mode === "items") this.#finishItem(out);
    if (!this.#isList && !this.#document.every(isBlank)) {
      out.push({ text: `${this.#document.join("\n")}\n`, line: this.#documentLine });
    }
    this.#document = [];
    this.#documentLine = this.#line;
    this.#isList = false;
    this.#size = 0;
    this.#mode = "members";
  }
}

/** Whether a line is empty or only a comment. */
function isBlank(line: string): boolean {
  return /^[ \t\r]*(?:#|$)/.test(line);
}

function isIndented(line: string, by: number): boolean {
  for (let at = 0; at < by; at++) if (line[at] !== " ") return false;
  return true;
}
