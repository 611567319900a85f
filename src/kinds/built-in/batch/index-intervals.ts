import { quote } from "../../../base/go/quote.ts";

/** First and last completion index of an interval. */
type Interval = readonly [first: number, last: number];

/** Why `status.completedIndexes` such as "1,3-5,7" is invalid; the message is the wire text. */
class IndexesError extends Error {}

/** The number of completion indexes in a text such as "1,3-5,7", or its problem. All must be below `completions`. */
export function countIndexes(text: string, completions: number): { readonly total: number; readonly problem?: string } {
  if (text === "") return { total: 0 };
  let total = 0;
  let last: number | undefined;
  try {
    for (const part of text.split(",")) {
      const [from, to] = parseInterval(part, completions);
      if (last !== undefined && last >= from) {
        throw new IndexesError(`non-increasing order, previous: ${last}, current: ${from}`);
      }
      total += to - from + 1;
      last = to;
    }
    return { total };
  } catch (error) {
    if (error instanceof IndexesError) return { total: 0, problem: error.message };
    throw error;
  }
}

/** The first completion index in both sorted texts; undefined if there is none. Malformed parts are skipped. */
export function firstCommonIndex(left: string, right: string, completions: number): number | undefined {
  const rights = readableIntervals(right, completions);
  for (const [from, to] of readableIntervals(left, completions)) {
    const overlap = rights.find(([first, last]) => from <= last && first <= to);
    if (overlap) return Math.max(from, overlap[0]);
  }
  return undefined;
}

function readableIntervals(text: string, completions: number): Interval[] {
  if (text === "") return [];
  return text.split(",").flatMap((part) => {
    try {
      return [parseInterval(part, completions)];
    } catch (error) {
      if (error instanceof IndexesError) return [];
      throw error;
    }
  });
}

function parseInterval(text: string, completions: number): Interval {
  const [first = "", last, ...more] = text.split("-");
  if (more.length > 0) {
    const rule = "an index interval can have at most two parts separated by '-'";
    throw new IndexesError(`the fragment ${quote(text)} violates the requirement that ${rule}`);
  }
  const from = parseIndex(first, completions);
  if (last === undefined) return [from, from];
  const to = parseIndex(last, completions);
  if (from >= to) throw new IndexesError(`non-increasing order, previous: ${from}, current: ${to}`);
  return [from, to];
}

function parseIndex(text: string, completions: number): number {
  if (!/^[+-]?\d+$/.test(text)) throw new IndexesError(`cannot convert string to integer for index: ${quote(text)}`);
  const index = Number(text);
  if (index >= completions) throw new IndexesError(`too large index: ${quote(text)}`);
  return index;
}
