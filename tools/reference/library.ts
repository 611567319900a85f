import path from "node:path";
import { type Declaration, declarationOf, passedOn } from "./declarations.ts";
import { code, head, table } from "./markdown.ts";

/** Whose members stand in configuration.md. */
const CONFIGURATION: ReadonlySet<string> = new Set(["Config", "AccountTokenConfig"]);

const source = path.join(import.meta.dirname, "..", "..", "src");

/** Everything that one of the package's entries exports, functions and classes first. */
export function exportsOf(entry: "index.ts" | "testing.ts"): Declaration[] {
  const declarations = passedOn(path.join(source, entry)).map(({ name, file }) => declarationOf(file, name));
  const rank = ({ sort }: Declaration) => ["function", "class", "const"].indexOf(sort) >>> 0;
  return declarations.sort((a, b) => rank(a) - rank(b) || (a.name < b.name ? -1 : 1));
}

function section({ name, sort, text, comment, members }: Declaration): string {
  const shown = sort === "function" || sort === "type" ? ["```ts", text, "```", ""] : [];
  const rows = (CONFIGURATION.has(name) ? [] : members).map((member) => [code(member.text), member.comment]);
  return [
    `### ${name}`,
    "",
    CONFIGURATION.has(name) ? `${comment} [configuration.md](configuration.md) has its members.` : comment,
    "",
    ...shown,
    ...(rows.length > 0 ? [table(["member", "what it is"], rows)] : []),
  ].join("\n");
}

function entry(specifier: string, file: "index.ts" | "testing.ts"): string {
  return [`## ${specifier}`, "", ...exportsOf(file).map(section)].join("\n");
}

/** The text of docs/reference/library.md. */
export function libraryPage(): string {
  return [
    head(
      "Library",
      "Every name that the package exports, with what its declaration says. [library.md](../library.md) shows how they are used, and [configuration.md](configuration.md) has all options.",
    ),
    entry("binnacle", "index.ts"),
    entry("binnacle/testing", "testing.ts"),
  ].join("\n");
}
