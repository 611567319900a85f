import { lengthOf } from "../values/text.ts";

/** An error at a position in the text of an expression. -1 if it has no position. */
export interface SourceError {
  readonly at: number;
  readonly message: string;
}

/** The position of a part that could not be parsed. Compat: common.NoLocation becomes the column before the first. */
export const UNREAD = -2;

const MAX_ERRORS = 100;
const MAX_SNIPPET_BYTES = 16_384;

/** The text of an expression and its line starts. Positions are in UTF-16 units, columns in code points. */
export class Source {
  readonly text: string;
  private readonly lineStarts: number[] = [0];

  constructor(text: string) {
    this.text = text;
    for (let at = text.indexOf("\n"); at >= 0; at = text.indexOf("\n", at + 1)) this.lineStarts.push(at + 1);
  }

  /** Line and column of a position, both from 1 on. Line -1 and column 0 if it has none. */
  private locate(at: number): { readonly line: number; readonly column: number } {
    if (at === UNREAD) return { line: 1, column: 0 };
    if (at < 0) return { line: -1, column: 0 };
    // Compat: `OffsetLocation` of cel-go's common.Source finds no location in an empty text.
    if (this.text === "") return { line: 1, column: 0 };
    let line = 0;
    while ((this.lineStarts[line + 1] ?? Number.POSITIVE_INFINITY) <= at) line++;
    return { line: line + 1, column: lengthOf(this.text.slice(this.lineStarts[line], at)) + 1 };
  }

  /** Line and column of a position, as printed before messages. */
  position(at: number): string {
    const { line, column } = this.locate(at);
    return `${line}:${column}`;
  }

  /** All errors as printed by cel-go, ordered by position, each with its line and a caret below. */
  format(errors: readonly SourceError[]): string {
    const shown = errors.slice(0, MAX_ERRORS).map((error) => ({ ...error, ...this.locate(error.at) }));
    shown.sort((a, b) => a.line - b.line || a.column - b.column);
    const lines = shown.map((error) => {
      return `ERROR: <input>:${error.line}:${error.column}: ${error.message}${this.snippet(error.line, error.column)}`;
    });
    if (errors.length > MAX_ERRORS) lines.push(`${errors.length - MAX_ERRORS} more errors were truncated`);
    return lines.join("\n");
  }

  private snippet(line: number, column: number): string {
    const start = this.lineStarts[line - 1];
    if (start === undefined || this.text === "") return "";
    const next = this.lineStarts[line];
    const text = this.text.slice(start, next === undefined ? undefined : next - 1).replaceAll("\t", " ");
    if (Buffer.byteLength(text) > MAX_SNIPPET_BYTES) return "";
    const points = Array.from(text);
    const dots = points.slice(0, Math.max(0, column - 1)).map((point) => (isWide(point) ? "\uff0e" : "."));
    return `\n | ${text}\n | ${dots.join("")}${isWide(points[column - 1]) ? "\uff3e" : "^"}`;
  }
}

const isWide = (point: string | undefined) => point !== undefined && (point.codePointAt(0) ?? 0) > 0x7f;
