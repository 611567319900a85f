import { isObject } from "../../../../base/api/object.ts";
import { getMember } from "../../../../base/util/members.ts";
import { byCodePoint } from "../../../../data/patch/strategic-print.ts";
import type { GoLayout } from "./go-layout.ts";
import { GO_FIELDS } from "./go-values.ts";

/** Prints a JSON value as the Go value that it stands for. Undefined is printed as the zero value. */
type Printer = (value: unknown) => string;

const NIL = "<nil>";

/**
 * Returns a function that prints values of a Go type. Upstream: `dump.ForHash`, which is spew's `%#v`.
 * Compat: an empty slice or map prints as `<nil>`. Controllers read protobuf, which has no empty ones.
 */
export function spewPrinter(layout: GoLayout, type: string): Printer {
  return new SpewPrinters(layout).of(type);
}

class SpewPrinters {
  readonly #layout: GoLayout;
  readonly #known = new Map<string, Printer>();

  constructor(layout: GoLayout) {
    this.#layout = layout;
  }

  of(type: string): Printer {
    let printer = this.#known.get(type);
    if (printer === undefined) {
      printer = this.#make(type);
      this.#known.set(type, printer);
    }
    return printer;
  }

  #make(type: string): Printer {
    const rows = getMember(this.#layout.structs, type);
    if (rows !== undefined) return this.#struct(type, rows);
    const kind = getMember(this.#layout.types, type) ?? type;
    if (kind.startsWith("*")) return pointer(this.of(kind.slice(1)));
    if (kind.startsWith("[]")) return list(this.of(kind.slice(2)));
    if (kind.startsWith("map[")) return map(this.of(kind.slice(kind.indexOf("]") + 1)));
    const zero = ZEROS.get(kind);
    if (zero === undefined) throw new Error(`the layout of Go structs does not contain ${type}`);
    return (value) => (value === undefined || value === null ? zero : String(value));
  }

  #struct(type: string, rows: readonly string[]): Printer {
    const fields = rows.map((row, index) => {
      const [name = "", json = "", fieldType = ""] = row.split(" ");
      const print = this.of(fieldType);
      const start = `${index === 0 ? "" : " "}${name}:(${fieldType})`;
      return { json, print, start, omitted: start + print(undefined) };
    });
    const zero = `{${fields.map(({ omitted }) => omitted).join("")}}`;
    const printFields: Printer = (value) => {
      if (!isObject(value)) return zero;
      let text = "{";
      for (const { json, print, start, omitted } of fields) {
        const member = json === "@" ? value : value[json];
        text += member === undefined || member === null ? omitted : start + print(member);
      }
      return `${text}}`;
    };
    const fieldsOf = GO_FIELDS.get(type);
    return fieldsOf === undefined ? printFields : (value) => printFields(fieldsOf(value ?? undefined));
  }
}

const ZEROS: ReadonlyMap<string, string> = new Map([
  ["string", ""],
  ["bool", "false"],
  ...["int", "int32", "int64", "uint", "uint8", "uint64"].map((kind): [string, string] => [kind, "0"]),
]);

const pointer =
  (print: Printer): Printer =>
  (value) =>
    value === undefined || value === null ? NIL : print(value);

const list =
  (print: Printer): Printer =>
  (value) =>
    Array.isArray(value) && value.length > 0 ? `[${value.map((item) => print(item)).join(" ")}]` : NIL;

const map =
  (print: Printer): Printer =>
  (value) => {
    const keys = isObject(value) ? Object.keys(value).sort(byCodePoint) : [];
    if (!isObject(value) || keys.length === 0) return NIL;
    return `map[${keys.map((key) => `${key}:${print(value[key])}`).join(" ")}]`;
  };
