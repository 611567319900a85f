import { readFile, writeFile } from "node:fs/promises";
import path from "node:path";
import { makeWorld, type StartError } from "../test/start-errors/world.ts";

const root = path.join(import.meta.dirname, "..");
const table = path.join(root, "test", "start-errors", "table.json");
const page = path.join(root, "docs", "reference", "start-errors.md");
const LINE_WIDTH = 120;

/** The page of docs that the table makes. */
export function startErrorsPage(rows: readonly StartError[]): string {
  const blocks = rows.map(({ args, says }) => {
    const line = ["binnacle", ...args.map((arg) => (/[\s*]/.test(arg) ? `'${arg}'` : arg))].join(" ");
    return ["```", `$ ${line}`, says.replace(/\(ends with 1\)$/, "").trimEnd(), "```"].join("\n");
  });
  return `# Start errors

Error messages of invalid command lines: the flag, the value, the cause, and what to do next. The exit code is 1.
\`test/start-errors/table.json\` is the source of this page; \`node tools/start-errors.ts\` regenerates both.

${blocks.join("\n\n")}
`;
}

/** The table as the formatter would leave it. */
function tableText(rows: readonly StartError[]): string {
  const texts = rows.map(({ args, says }) => {
    const words = args.map((arg) => JSON.stringify(arg));
    const line = `    "args": [${words.join(", ")}],`;
    const list = line.length <= LINE_WIDTH ? line : `    "args": [\n      ${words.join(",\n      ")}\n    ],`;
    return `  {\n${list}\n    "says": ${JSON.stringify(says)}\n  }`;
  });
  return `[\n${texts.join(",\n")}\n]\n`;
}

if (import.meta.main) {
  const rows: StartError[] = JSON.parse(await readFile(table, "utf8"));
  await using world = await makeWorld();
  const said: StartError[] = [];
  for (const { args } of rows) said.push({ args, says: await world.say(args) });
  await writeFile(table, tableText(said));
  await writeFile(page, startErrorsPage(said));
}
