import { Command, type Option } from "commander";
import type { CommandRow, Io } from "../../src/commands/command.ts";
import { addServeFlags } from "../../src/commands/serve-flags.ts";
import { COMMANDS } from "../../src/commands/table.ts";
import { flagTypes } from "../../src/envtest/apiserver-flags.ts";
import { code, head, table } from "./markdown.ts";

const silent: Io = { print() {}, complain() {}, isTerminal: false, env: {}, cwd: "/", exitCode: 0 };

/** What kube-apiserver's flag is here, where it is not what it is there. */
const WITHOUT_MEANING: ReadonlyMap<string, string> = new Map([
  ["allow-privileged", "accepted without effect, and `=false` is refused"],
]);

function defaultOf({ defaultValue, defaultValueDescription }: Option): string {
  if (defaultValueDescription !== undefined) return defaultValueDescription;
  if (defaultValue === undefined || (Array.isArray(defaultValue) && defaultValue.length === 0)) return "";
  return String(defaultValue);
}

function flagRow(option: Option): string[] {
  const { flags, description, argChoices, long = "" } = option;
  const remark = WITHOUT_MEANING.get(long.replace("--", ""));
  const choices = argChoices ? `one of ${argChoices.map(code).join(", ")}` : "";
  const shown = defaultOf(option);
  return [
    code(flags),
    option.negate ? "" : shown.includes(" ") ? shown : code(shown),
    [description, choices, remark].filter(Boolean).join("; "),
  ];
}

const COLUMNS = ["flag", "default", "what it does"];

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
  const inner = command.commands.flatMap((one) => [
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

/** The text of docs/reference/commands.md: every command with its flags, but those of a server. */
export async function commandsPage(): Promise<string> {
  const rows = COMMANDS.filter(({ name }) => name !== "serve");
  const introduction = head(
    "Commands",
    "`binnacle COMMAND --help` says the same. The flags of `serve`, which `up` and `run` take, too, are in [flags.md](flags.md).",
  );
  return [introduction, ...(await Promise.all(rows.map(commandSection)))].join("\n");
}

/** The text of docs/reference/flags.md: the flags of a server, and what becomes of kube-apiserver's others. */
export function flagsPage(): string {
  const command = new Command("serve");
  addServeFlags(command);
  const known = new Set(command.options.map(({ long = "" }) => long.replace("--", "")));
  const names = [...flagTypes.keys()].sort();
  const missing = names.filter((name) => !known.has(name));
  const own = [...known].filter((name) => !flagTypes.has(name)).sort();
  return [
    head(
      "Flags of the server",
      "`binnacle serve` takes these, and so do `up` and `run`. A switch, such as `--anonymous-auth [on]`, takes `true` or `false`, and means true alone.",
    ),
    ...flagTables(command.options),
    "### Names",
    "",
    `${known.size - own.length} of the ${names.length} flags of kube-apiserver 1.37 are there under its names. These have no counterpart there:`,
    "",
    `${own.map((name) => code(`--${name}`)).join(", ")}.`,
    "",
    "### Flags of kube-apiserver that are not there",
    "",
    "`binnacle serve` refuses them; the kube-apiserver of `binnacle envtest` accepts them, checks their values' types, and names them in one line on standard error ([go.md](../go.md)).",
    "",
    `${missing.map((name) => code(`--${name}`)).join(", ")}.`,
    "",
  ].join("\n");
}
