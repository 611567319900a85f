import { addAll } from "../../lib/add-all.ts";
import { type RawDocument, requireShort, type Splitter } from "./document.ts";

/** A `---` or `...` of its own, and what stands behind it. */
const BOUNDARY = /^(?:---|\.\.\.)(?:[ \t\r]|$)/;
const ITEMS = /^items:[ \t]*(?:#[^\n]*)?\r?$/;
const FIRST_ITEM = /^( *)- /;

/**
 * Cuts a stream of YAML at its document separators, and the `items` of a List as `kubectl get -o yaml` prints it item by
 * item. Within a block mapping every line that belongs to a member is indented, so that lines alone tell where an item
 * ends. An object of another kind that happens to have `items` stays whole: its items have no kind of their own.
 */
export class YamlSplitter implements Splitter {
  #rest = "";
  /** The line that is read next. */
  #line = 1;
  /** Lines of the document, without the items that were cut out of it. */
  #document: string[] = [];
  #documentLine = 1;
  #item: string[] = [];
  #itemLine = 1;
  /** Characters that are kept. */
  #size = 0;
  /** Spaces before the dash of each item. */
  #indent = "";
  /** What the next line is read as. "first": of the first item, by which a list of objects is known. */
  #mode: "members" | "before-items" | "first" | "items" = "members";
  /** Items were cut out of the document: what is left of it says nothing more. */
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
      // A document may begin behind its separator.
      if (line.startsWith("---")) this.#document.push(`   ${line.slice(3)}`);
      return;
    }
    // Directives stand between documents.
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

  /** The item that was read: a document, once a list is known by the first of them. */
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

  /** Whether the item has a kind of its own. */
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

/** Nothing but a comment, or less. */
function isBlank(line: string): boolean {
  return /^[ \t\r]*(?:#|$)/.test(line);
}

function isIndented(line: string, by: number): boolean {
  for (let at = 0; at < by; at++) if (line[at] !== " ") return false;
  return true;
}
