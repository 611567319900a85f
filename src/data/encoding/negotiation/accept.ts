import { memoize } from "../../../base/util/memoize.ts";

/** One clause of an Accept header. */
export interface AcceptClause {
  readonly type: string;
  readonly subtype: string;
  readonly quality: number;
  readonly parameters: Readonly<Record<string, string>>;
}

/**
 * Parses an Accept header: best quality first, concrete types before wildcards. Cached, because clients repeat few
 * headers.
 */
export const parseAccept: (header: string) => readonly AcceptClause[] = memoize(
  (header: string) =>
    header
      .split(",")
      .flatMap((part) => parseClause(part))
      .sort((a, b) => b.quality - a.quality || wildness(a) - wildness(b)),
  { results: 256, textLength: 1024 },
);

function parseClause(part: string): AcceptClause[] {
  const [range = "", ...rest] = part.split(";");
  const [type = "", subtype, ...more] = range.trim().split("/");
  // Compat: like goautoneg, a lone `*` is any type. Anything else without exactly one slash is skipped.
  const isAny = subtype === undefined && type === "*";
  if (!isAny && (subtype === undefined || more.length > 0)) return [];
  const parameters: Record<string, string> = Object.create(null);
  let quality = 1;
  for (const text of rest) {
    const equals = text.indexOf("=");
    if (equals < 0) continue;
    const name = text.slice(0, equals).trim();
    const value = text.slice(equals + 1).trim();
    if (name === "q") quality = Number.parseFloat(value) || 0;
    else parameters[name] = value;
  }
  return [{ type: type.trim(), subtype: isAny ? "*" : (subtype ?? "").trim(), quality, parameters }];
}

function wildness(clause: AcceptClause): number {
  return clause.type === "*" ? 2 : clause.subtype === "*" ? 1 : 0;
}
