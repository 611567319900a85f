/** An interval of completion indexes. */
interface Interval {
  readonly first: number;
  readonly last: number;
}

const INTEGER = /^[+-]?\d+$/;

/** A set of completion indexes, kept as ordered intervals. A Job may have 2³¹ of them. */
export class Indexes {
  static readonly none = new Indexes([]);
  readonly #intervals: readonly Interval[];

  private constructor(intervals: readonly Interval[]) {
    this.#intervals = intervals;
  }

  /** Single indexes, in any order. */
  static of(indexes: Iterable<number>): Indexes {
    const sorted = [...indexes].sort((one, other) => one - other);
    return new Indexes(joined(sorted.map((index) => ({ first: index, last: index }))));
  }

  /**
   * Reads a text such as "1,3-5,7". Ignores malformed parts, and indexes that are not below `completions`.
   *
   * Upstream: parseIndexesFromString
   */
  static parse(text: string, completions: number): Indexes {
    const intervals: { first: number; last: number }[] = [];
    for (const part of text === "" ? [] : text.split(",")) {
      const [from = "", to = from] = part.split("-");
      if (!INTEGER.test(from)) continue;
      const first = Number(from);
      if (first >= completions) break;
      if (!INTEGER.test(to)) continue;
      const last = Math.min(Number(to), completions - 1);
      const previous = intervals.at(-1);
      if (previous?.last === first - 1) previous.last = last;
      else intervals.push({ first, last });
    }
    return new Indexes(intervals);
  }

  get isEmpty(): boolean {
    return this.#intervals.length === 0;
  }

  /** The number of indexes. */
  get size(): number {
    return this.#intervals.reduce((sum, { first, last }) => sum + last - first + 1, 0);
  }

  has(index: number): boolean {
    let [low, high] = [0, this.#intervals.length];
    while (low < high) {
      const middle = (low + high) >>> 1;
      if ((this.#intervals[middle]?.last ?? 0) >= index) high = middle;
      else low = middle + 1;
    }
    const found = this.#intervals[high];
    return found !== undefined && found.first <= index;
  }

  /** The indexes of both sets. */
  with(other: Indexes): Indexes {
    const all = [...this.#intervals, ...other.#intervals].sort((one, another) => one.first - another.first);
    return new Indexes(joined(all));
  }

  /** The number of indexes in both sets. */
  common(other: Indexes): number {
    let [count, own, others] = [0, 0, 0];
    for (;;) {
      const [one, another] = [this.#intervals[own], other.#intervals[others]];
      if (one === undefined || another === undefined) return count;
      count += Math.max(0, Math.min(one.last, another.last) - Math.max(one.first, another.first) + 1);
      if (one.last <= another.last) own += 1;
      if (another.last <= one.last) others += 1;
    }
  }

  /** The first `count` indexes below `limit` that are not in the set. */
  missing(count: number, limit: number): number[] {
    const found: number[] = [];
    let next = 0;
    for (const { first, last } of [...this.#intervals, { first: limit, last: limit }]) {
      const end = Math.min(first, limit);
      for (; next < end && found.length < count; next += 1) found.push(next);
      next = Math.max(next, last + 1);
    }
    return found;
  }

  /** As in `status.completedIndexes`: "1,3-5,7". */
  toString(): string {
    return this.#intervals.map(({ first, last }) => printInterval(first, last)).join(",");
  }
}

function printInterval(first: number, last: number): string {
  if (first === last) return `${first}`;
  return last === first + 1 ? `${first},${last}` : `${first}-${last}`;
}

/** Joins intervals that overlap or touch. They are ordered by their first index. */
function joined(ordered: readonly Interval[]): Interval[] {
  const intervals: { first: number; last: number }[] = [];
  for (const { first, last } of ordered) {
    const previous = intervals.at(-1);
    if (previous === undefined || first > previous.last + 1) intervals.push({ first, last });
    else previous.last = Math.max(previous.last, last);
  }
  return intervals;
}
