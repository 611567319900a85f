import { Command, type Option } from "commander";
import { type Section, shownDefault } from "../../src/base/options/option.ts";
import type { CommandRow, Io } from "../../src/programs/cli/command.ts";
import { DeclaredFlag } from "../../src/programs/cli/flags/declared-flags.ts";
import { addServeFlags } from "../../src/programs/cli/flags/serve-flags.ts";
import { COMMANDS } from "../../src/programs/cli/table.ts";
import { flagTypes } from "../../src/programs/envtest/apiserver-flags.ts";
import { serverSections } from "../../src/programs/server/options.ts";
import { code, head, table } from "./markdown.ts";

const silent: Io = {
  print() {},
  complain() {},
  isTerminal: false,
  env: {},
  cwd: "/",
  program: "binnacle",
  exitCode: 0,
};

function defaultOf({ defaultValue, defaultValueDescription }: Option): string {
  if (defaultValueDescription !== undefined) return defaultValueDescription;
  if (defaultValue === undefined || (Array.isArray(defaultValue) && defaultValue.length === 0)) return "";
  return String(defaultValue);
}

function flagRow(option: Option): string[] {
  const { flags, description, argChoices } = option;
  const declared = option instanceof DeclaredFlag ? option.declared : undefined;
  const choices = argChoices ? `one of ${argChoices.map(code).join(", ")}` : "";
  const shown = declared ? shownDefault(declared) : defaultOf(option);
  const help = declared?.help ?? description;
  return [
    code(flags),
    option.negate ? "" : shown.includes(" ") ? shown : code(shown),
    [help, choices].filter(Boolean).join("; "),
  ];
}

const COLUMNS = ["flag", "default", "description"];

/** Flags by the heading under which `--help` has them. */
function flagTables(options: readonly Option[]): string[] {
  const shown = options.filter(({ hidden }) => !hidden);
  const groups = new Set(shown.map(({ helpGroupHeading }) => helpGroupHeading));
  return [...groups].flatMap((group) => {
    const rows = shown.filter(({ helpGroupHeading }) => helpGroupHeading === group).map(flagRow);
    return [...(group === undefined ? [] : [`### ${group.replace(/:$/, "")}`, ""]), table(COLUMNS, rows)];
  });
}

async function commandSection(row: CommandRow): Promise<string> {
  const command = new Command(row.name);
  const { configure, examples } = await row.load();
  configure(command, silent, COMMANDS);
  const visible = new Set(command.createHelp().visibleCommands(command));
  const inner = command.commands
    .filter((one) => visible.has(one))
    .flatMap((one) => [
      `### binnacle ${row.name} ${one.name()}`,
      "",
      `${one.description()}.`,
      "",
      code(`binnacle ${row.name} ${one.name()} ${one.usage()}`),
      "",
      ...(one.options.length > 0 ? [table(COLUMNS, one.options.map(flagRow))] : []),
    ]);
  const used = examples.flatMap(([purpose, line]) => [`# ${purpose}`, line]);
  return [
    `## binnacle ${row.name}`,
    "",
    `${row.summary}.`,
    "",
    "```",
    ...used,
    "```",
    "",
    ...(inner.length > 0 ? inner : command.options.length > 0 ? flagTables(command.options) : []),
  ].join("\n");
}

/** The text of docs/reference/commands.md: every command with its flags, except those of a server. */
export async function commandsPage(): Promise<string> {
  const rows = COMMANDS.filter(({ name }) => name !== "serve");
  const introduction = head(
    "Commands",
    "`binnacle COMMAND --help` prints the same. [flags.md](flags.md) lists the flags of `serve`, which `up` and `run` accept, too.",
  );
  return [introduction, ...(await Promise.all(rows.map(commandSection)))].join("\n");
}

/** The text of docs/reference/flags.md: the flags of a server, and the unsupported ones of kube-apiserver. */
export function flagsPage(sections: readonly Section[] = serverSections): string {
  const command = new Command("serve");
  addServeFlags(command, sections);
  const known = new Set(command.options.map(({ long = "" }) => long.replace("--", "")));
  const names = [...flagTypes.keys()].sort();
  const missing = names.filter((name) => !known.has(name));
  const own = [...known].filter((name) => !flagTypes.has(name)).sort();
  return [
    head(
      "Flags of the server",
      "Flags of `binnacle serve`, `up` and `run`. The value of a boolean flag is optional: `--anonymous-auth` means `--anonymous-auth=true`. Booleans are parsed as in kube-apiserver: 1, t, true, 0, f, false and so on.",
    ),
    ...flagTables(command.options),
    "### Names",
    "",
    `${known.size - own.length} of the ${names.length} flags of kube-apiserver 1.37 are supported under the same names. These flags exist only in Binnacle:`,
    "",
    `${own.map((name) => code(`--${name}`)).join(", ")}.`,
    "",
    "### Unsupported flags of kube-apiserver",
    "",
    "`binnacle serve` rejects them. The kube-apiserver of `binnacle envtest` accepts them, checks the types of their values, and lists them in one line on standard error ([go.md](../go.md)).",
    "",
    `${missing.map((name) => code(`--${name}`)).join(", ")}.`,
    "",
  ].join("\n");
}
