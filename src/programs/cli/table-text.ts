/** Prints rows as an indented table. */
export function printTable(rows: readonly (readonly string[])[]): string {
  const width = (at: number) => rows.reduce((most, row) => Math.max(most, row[at]?.length ?? 0), 0);
  const widths = (rows[0] ?? []).map((_, at) => width(at));
  const line = (row: readonly string[]) => row.map((cell, at) => cell.padEnd(widths[at] ?? 0)).join("  ");
  return rows.map((row) => `  ${line(row).trimEnd()}\n`).join("");
}
