import { addAll } from "./add-all.ts";

/** A line that both texts contain, or only one of them. */
interface Step {
  readonly type: " " | "-" | "+";
  readonly line: string;
}

/** Number of unchanged lines shown around a change. */
const CONTEXT = 3;
/** With more changes, the rest is shown as replaced: the time to find the shortest diff grows with the square. */
const MAX_CHANGES = 1000;

/**
 * The difference of two texts in the unified format of diff(1). Empty if they are equal. `names` are the names of the
 * two texts.
 */
export function unifiedDiff(before: string, after: string, names: readonly [before: string, after: string]): string {
  if (before === after) return "";
  const steps = stepsBetween(linesOf(before), linesOf(after));
  const hunks = hunksOf(steps);
  return [`--- ${names[0]}`, `+++ ${names[1]}`, ...hunks, ""].join("\n");
}

function linesOf(text: string): string[] {
  if (text === "") return [];
  return (text.endsWith("\n") ? text.slice(0, -1) : text).split("\n");
}

function stepsBetween(before: readonly string[], after: readonly string[]): Step[] {
  let start = 0;
  while (start < before.length && start < after.length && before[start] === after[start]) start++;
  let end = 0;
  const longest = Math.min(before.length, after.length) - start;
  while (end < longest && before[before.length - 1 - end] === after[after.length - 1 - end]) end++;
  const keep = (line: string): Step => ({ type: " ", line });
  return [
    ...before.slice(0, start).map(keep),
    ...shortestSteps(before.slice(start, before.length - end), after.slice(start, after.length - end)),
    ...before.slice(before.length - end).map(keep),
  ];
}

/** Myers' algorithm: `furthest[k]` is the furthest index in `before` on diagonal k with this number of changes. */
function shortestSteps(before: readonly string[], after: readonly string[]): Step[] {
  const most = Math.min(before.length + after.length, MAX_CHANGES);
  const rounds: Map<number, number>[] = [];
  let furthest = new Map([[1, 0]]);
  for (let changes = 0; changes <= most; changes++) {
    const next = new Map<number, number>();
    for (let k = -changes; k <= changes; k += 2) {
      let x = isDown(furthest, k, changes) ? (furthest.get(k + 1) ?? 0) : (furthest.get(k - 1) ?? 0) + 1;
      while (x < before.length && x - k < after.length && before[x] === after[x - k]) x++;
      next.set(k, x);
      if (x >= before.length && x - k >= after.length) return stepsBack(before, after, [...rounds, furthest]);
    }
    rounds.push(furthest);
    furthest = next;
  }
  return [...before.map((line): Step => ({ type: "-", line })), ...after.map((line): Step => ({ type: "+", line }))];
}

function isDown(furthest: ReadonlyMap<number, number>, k: number, changes: number): boolean {
  return k === -changes || (k !== changes && (furthest.get(k - 1) ?? -1) < (furthest.get(k + 1) ?? -1));
}

function stepsBack(
  before: readonly string[],
  after: readonly string[],
  rounds: readonly ReadonlyMap<number, number>[],
): Step[] {
  const steps: Step[] = [];
  let x = before.length;
  let y = after.length;
  for (let changes = rounds.length - 1; changes >= 0; changes--) {
    const furthest = rounds[changes] as ReadonlyMap<number, number>;
    const k = x - y;
    const isInsert = isDown(furthest, k, changes);
    const previousX = furthest.get(isInsert ? k + 1 : k - 1) ?? 0;
    const previousY = previousX - (isInsert ? k + 1 : k - 1);
    while (x > previousX && y > previousY && x > 0 && y > 0) {
      steps.push({ type: " ", line: before[--x] as string });
      y--;
    }
    if (changes === 0) break;
    if (isInsert) steps.push({ type: "+", line: after[--y] as string });
    else steps.push({ type: "-", line: before[--x] as string });
  }
  return steps.reverse();
}

function hunksOf(steps: readonly Step[]): string[] {
  const out: string[] = [];
  const changed = steps.flatMap(({ type }, index) => (type === " " ? [] : [index]));
  let line = { before: 1, after: 1 };
  let at = 0;
  for (let index = 0; index < changed.length; ) {
    const first = Math.max(0, (changed[index] as number) - CONTEXT);
    let last = changed[index] as number;
    while (index < changed.length && (changed[index] as number) - last <= 2 * CONTEXT)
      last = changed[index++] as number;
    const end = Math.min(steps.length, last + 1 + CONTEXT);
    for (; at < first; at++) line = moved(line, steps[at] as Step);
    const start = line;
    const shown: string[] = [];
    for (; at < end; at++) {
      const step = steps[at] as Step;
      shown.push(`${step.type}${step.line}`);
      line = moved(line, step);
    }
    out.push(`@@ -${range(start.before, line.before)} +${range(start.after, line.after)} @@`);
    addAll(out, shown);
  }
  return out;
}

function moved(line: { before: number; after: number }, { type }: Step): { before: number; after: number } {
  return { before: line.before + (type === "+" ? 0 : 1), after: line.after + (type === "-" ? 0 : 1) };
}

/** `first,count` as diff(1) prints it: without a count for one line, and with the line before for zero lines. */
function range(first: number, end: number): string {
  const count = end - first;
  if (count === 1) return String(first);
  return `${count === 0 ? first - 1 : first},${count}`;
}
