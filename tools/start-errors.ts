import { readFile, writeFile } from "node:fs/promises";
import path from "node:path";
import { makeWorld, type StartError } from "../test/start-errors/world.ts";

const root = path.join(import.meta.dirname, "..");
const table = path.join(root, "test", "start-errors", "table.json");
const page = path.join(root, "docs", "reference", "start-errors.md");

/** The page of docs that the table makes. */
export function startErrorsPage(rows: readonly StartError[]): string {
  const blocks = rows.map(({ args, says }) => {
    const line = ["binnacle", ...args.map((arg) => (/[\s*]/.test(arg) ? `'${arg}'` : arg))].join(" ");
    return ["```", `$ ${line}`, says.replace(/\(ends with 1\)$/, "").trimEnd(), "```"].join("\n");
  });
  return `# Ways to start it wrongly

What Binnacle says about a command line that cannot work: the flag, the value, the cause, and what to do next. Every one of these ends with code 1.
\`test/start-errors/table.json\` is the source of this page; \`node tools/start-errors.ts\` writes both anew.

${blocks.join("\n\n")}
`;
}

if (import.meta.main) {
  const rows: StartError[] = JSON.parse(await readFile(table, "utf8"));
  await using world = await makeWorld();
  const said: StartError[] = [];
  for (const { args } of rows) said.push({ args, says: await world.say(args) });
  await writeFile(table, `${JSON.stringify(said, null, 2)}\n`);
  await writeFile(page, startErrorsPage(said));
}
