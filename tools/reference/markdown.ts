/** The first lines of a generated page. */
export function head(title: string, text: string): string {
  return `# ${title}\n\nWritten by \`npm run docs reference\`; never edited by hand. ${text}\n`;
}

/** A table, with what Markdown would take for its own made harmless. */
export function table(columns: readonly string[], rows: readonly (readonly string[])[]): string {
  const line = (cells: readonly string[]) => `| ${cells.map((cell) => cell.replaceAll("|", "\\|")).join(" | ")} |`;
  return [line(columns), `|${"---|".repeat(columns.length)}`, ...rows.map(line), ""].join("\n");
}

/** As code, or nothing. */
export const code = (text: string): string => (text === "" ? "" : `\`${text}\``);

/** A text on one line, such as a doc comment. */
export const oneLine = (text: string): string => text.replace(/\s+/g, " ").trim();
