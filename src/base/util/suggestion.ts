/** `, did you mean NAME?` with the nearest known name. Empty if none differs in at most a third of its letters, and two at most. */
export function suggestion(name: string, known: readonly string[]): string {
  if (name.length > 50) return "";
  const near = known.map((one) => ({ one, steps: distance(name.toLowerCase(), one.toLowerCase()) }));
  const most = Math.min(2, Math.max(1, Math.floor(name.length / 3)));
  const [best] = near.filter(({ steps }) => steps <= most).sort((a, b) => a.steps - b.steps);
  return best === undefined ? "" : `, did you mean ${best.one}?`;
}

/** The Levenshtein distance of two strings. */
function distance(a: string, b: string): number {
  let row = Array.from({ length: b.length + 1 }, (_, index) => index);
  for (let i = 1; i <= a.length; i++) {
    const next = [i];
    for (let j = 1; j <= b.length; j++) {
      const changed = (row[j - 1] ?? 0) + (a[i - 1] === b[j - 1] ? 0 : 1);
      next.push(Math.min(changed, (row[j] ?? 0) + 1, (next[j - 1] ?? 0) + 1));
    }
    row = next;
  }
  return row[b.length] ?? 0;
}
