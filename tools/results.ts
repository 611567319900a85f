import { globSync, readFileSync, writeFileSync } from "node:fs";
import path from "node:path";

/**
 * Fills the tables of pages from bench/results/: a line `<!-- generated from bench/results/lists.json -->`, and the table behind it, which
 * begins with the command that measures it. A marker with several files (`a.json b.json`, or a pattern) makes one table of them, with a column of commands.
 */

const root = path.join(import.meta.dirname, "..");

/** Pages with generated tables. */
export const PAGES: readonly string[] = ["docs/performance.md", "docs/internals/testing.md"];

/** A number, text, `[low, high]`, or `[median, low, high]`. Text keeps digits that a JSON number loses, such as "2.0". */
type Figure = number | string;
type Cell = Figure | readonly [Figure, Figure] | readonly [Figure, Figure, Figure];

interface Row {
  readonly what: string;
  /** Appended to every cell that is not text. */
  readonly unit?: string;
  /** Whether pages leave the row out. */
  readonly hidden?: boolean;
  readonly [key: string]: unknown;
}

interface Run {
  readonly id: string;
  readonly date: string;
  readonly conditions: string;
  readonly rows: readonly Row[];
}

/** One file of bench/results/; bench/results/README.md describes the fields. */
interface Results {
  readonly measures: string;
  readonly command: string | null;
  readonly machine: string;
  /** A unit of a column replaces that of the row; "" is for ratios and counts. */
  readonly columns?: readonly { readonly key: string; readonly title: string; readonly unit?: string }[];
  /** Id of the run that pages show. */
  readonly shown?: string;
  readonly runs: readonly Run[];
}

const MARKER = /^<!-- generated from (bench\/results\/.+\.json) -->$/;

/** Files of bench/results/ that match a pattern, by path. */
export function resultFiles(pattern = "bench/results/**/*.json"): string[] {
  return globSync(pattern, { cwd: root }).sort();
}

/** Reads a file of bench/results/. Throws if a field is missing. */
export function readResults(file: string): Results {
  const results = JSON.parse(readFileSync(path.join(root, file), "utf8")) as Results;
  const problems = problemsOf(results);
  if (problems.length > 0) throw new Error(`${file}: ${problems.join("; ")}`);
  return results;
}

/** What is wrong with the content of a file of bench/results/. */
export function problemsOf(results: Results): string[] {
  const problems: string[] = [];
  const { measures, command, machine, columns = [], shown, runs } = results;
  if (!measures || !machine) problems.push("measures and machine are required");
  if (command === undefined) problems.push("command is required, or null if no program measures this");
  if (!runs?.length) return [...problems, "runs are required"];
  for (const run of runs) {
    if (!run.id || run.conditions === undefined) problems.push("every run needs an id and conditions");
    if (!/^\d{4}-\d\d-\d\d$/.test(run.date)) problems.push(`run ${run.id} needs a date such as 2026-11-16`);
    if (run.rows.length === 0 || run.rows.some(({ what }) => !what))
      problems.push(`run ${run.id} needs rows with "what"`);
  }
  if (shown === undefined) return problems;
  const rows = runs.find(({ id }) => id === shown)?.rows;
  if (!rows) return [...problems, `there is no run ${shown}`];
  if (!command) problems.push("what a page shows needs a command");
  for (const { key } of columns) {
    if (!rows.some((row) => row[key] !== undefined)) problems.push(`no row of run ${shown} has ${key}`);
  }
  if (columns[0]?.key !== "what") problems.push('the first column must be "what"');
  return problems;
}

/** The page with every generated table as bench/results/ has it. */
export function withTables(page: string): string {
  const lines = page.split("\n");
  const written: string[] = [];
  for (let at = 0; at < lines.length; at += 1) {
    const line = lines[at] ?? "";
    written.push(line);
    const [, patterns] = MARKER.exec(line) ?? [];
    if (patterns === undefined) continue;
    while (lines[at + 1]?.startsWith("|")) at += 1;
    written.push(...tableOf(patterns.split(" ").flatMap((pattern) => resultFiles(pattern))));
  }
  return written.join("\n");
}

/** Lines of one table with the shown run of each file. */
function tableOf(files: readonly string[]): string[] {
  const all = files.map(readResults).filter(({ shown }) => shown !== undefined);
  const [first] = all;
  if (!first?.columns) throw new Error(`${files.join(", ")}: no run is shown`);
  const [what, ...columns] = first.columns;
  const isShared = all.length > 1;
  const titles = [isShared ? (what?.title ?? "") : code(first.command), ...columns.map(({ title }) => title)];
  if (isShared) titles.push("command");
  const lines = [`| ${titles.join(" | ")} |`, `|${titles.map(() => "---|").join("")}`];
  for (const { command, shown, runs } of all) {
    let last = isShared ? ` ${code(command)} |` : "";
    for (const row of runs.find(({ id }) => id === shown)?.rows ?? []) {
      const cells = columns.map(({ key, unit = row.unit }) => cellText(row[key] as Cell | undefined, unit));
      if (row.hidden || cells.every((cell) => cell === "")) continue;
      lines.push(`| ${row.what} | ${cells.join(" | ")} |${last}`);
      if (isShared) last = " |";
    }
  }
  return lines;
}

const code = (command: string | null): string => `\`${command}\``;

function cellText(cell: Cell | undefined, unit = ""): string {
  if (cell === undefined) return "";
  if (typeof cell === "string" && !/^[\d.]+$/.test(cell)) return cell;
  const suffix = unit.startsWith("/") || unit === "" ? unit : ` ${unit}`;
  if (typeof cell !== "object") return `${figureText(cell)}${suffix}`;
  const [first, second, third] = cell.map(figureText);
  return third === undefined ? `${first}–${second}${suffix}` : `${first}${suffix} (${second}–${third})`;
}

const figureText = (figure: Figure): string => (typeof figure === "number" ? figure.toLocaleString("en") : figure);

if (import.meta.main) {
  for (const page of PAGES) {
    const file = path.join(root, page);
    writeFileSync(file, withTables(readFileSync(file, "utf8")));
  }
}
