import path from "node:path";
import { type Declaration, declarationOf, type Member, passedOn } from "./declarations.ts";
import { code, head, table } from "./markdown.ts";

/** Whose members stand in configuration.md. */
const CONFIGURATION: ReadonlySet<string> = new Set(["Config", "AccountTokenConfig", "ServerOptions"]);

const source = path.join(import.meta.dirname, "..", "..", "src");

/** Everything that one of the package's entries exports, functions and classes first. */
export function exportsOf(entry: "index.ts" | "testing.ts"): Declaration[] {
  const declarations = passedOn(path.join(source, entry)).map(({ name, file }) => declarationOf(file, name));
  const rank = ({ sort }: Declaration) => ["function", "class", "const"].indexOf(sort) >>> 0;
  return declarations.sort((a, b) => rank(a) - rank(b) || (a.name < b.name ? -1 : 1));
}

/** `known` are the names with a section on the page. */
function section(one: Declaration, known: readonly string[]): string {
  const { name, bases, sort, text, comment } = one;
  const isConfiguration = CONFIGURATION.has(name);
  const shown = !isConfiguration && (sort === "function" || sort === "type") ? ["```ts", text, "```", ""] : [];
  const rows = (isConfiguration ? [] : membersOf(one, known)).map((member) => [code(member.text), member.comment]);
  const links = bases
    .filter((base) => known.includes(base.name))
    .map((base) => `[${base.name}](#${base.name.toLowerCase()})`);
  const inherited = links.length > 0 ? [`It also has the members of ${links.join(" and ")}.`, ""] : [];
  return [
    `### ${name}`,
    "",
    isConfiguration ? `${comment} [configuration.md](configuration.md) lists its members.` : comment,
    "",
    ...inherited,
    ...shown,
    ...(rows.length > 0 ? [table(["member", "what it is"], rows)] : []),
  ].join("\n");
}

/** Own members, after those of bases without a section of their own. */
function membersOf({ bases, members }: Declaration, known: readonly string[]): Member[] {
  const own = new Set(members.map(({ name }) => name));
  const hidden = bases.filter((base) => !known.includes(base.name)).flatMap((base) => membersOf(base, known));
  return [...hidden.filter(({ name }) => !own.has(name)), ...members];
}

function entry(specifier: string, file: "index.ts" | "testing.ts"): string {
  const declarations = exportsOf(file);
  const known = declarations.map(({ name }) => name);
  return [`## ${specifier}`, "", ...declarations.map((one) => section(one, known))].join("\n");
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
