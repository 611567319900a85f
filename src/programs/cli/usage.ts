import type { Command, CommanderError } from "commander";
import { type Example, Failure } from "./command.ts";

/** The text before the usage of a command: its purpose and examples. */
export function introduction(summary: string, examples: readonly Example[]): string {
  const lines = examples.flatMap(([purpose, line]) => [`  # ${purpose}`, `  ${line}`, ""]);
  return [`${summary}.`, "", ...(lines.length > 0 ? ["Examples:", ...lines] : [])].join("\n");
}

const MAX_TEXT = 2000;
/** Commands that accept the flags of a server. */
const SERVING = ["serve", "up", "run"];

/** Converts a commander error about wrong arguments of `used`. Adds a suggestion and the help command. */
export async function usageFailure(
  { message, code }: CommanderError,
  args: readonly string[],
  used: Command | undefined,
): Promise<Failure> {
  const [text = "", meant] = message
    .slice(0, MAX_TEXT)
    .replace(/^error: /, "")
    .split("\n(Did you mean ");
  const [command = "", inner = ""] = args;
  const [, flag = ""] = /^unknown option '(--[^='\s]+)/.exec(text) ?? [];
  if (SERVING.includes(command) && (await isUpstreamFlag(flag))) {
    return new Failure(
      `${flag}: this flag of kube-apiserver is not supported`,
      "Remove it. docs/compatibility.md lists what differs from kube-apiserver, docs/reference/flags.md every flag.",
    );
  }
  const isCommand = command !== "" && !command.startsWith("-") && code !== "commander.unknownCommand";
  const isNested = isCommand && used?.commands.some((one) => one.name() === inner) === true;
  const help = ["See: binnacle", ...(isCommand ? [command] : []), ...(isNested ? [inner] : []), "--help"].join(" ");
  const next = meant === undefined ? help : `Did you mean ${meant.replace(/\)$/, "")} ${help}`;
  return new Failure(reword(text, code), next);
}

/** Whether kube-apiserver has the flag. The list is loaded for errors only. */
async function isUpstreamFlag(flag: string): Promise<boolean> {
  const { flagTypes } = await import("../envtest/apiserver-flags.ts");
  return flagTypes.has(flag.replace(/^--/, ""));
}

/** Commander quotes the flags of an option, the given value, or the name of an argument. */
function reword(text: string, code: string): string {
  const [, quoted = "", rest = ""] = split(text, "'", "'");
  const long = quoted.slice(Math.max(0, quoted.indexOf("--")));
  const [name = "", ...values] = long.split(" ");
  const value = values.join(" ");
  switch (code) {
    case "commander.invalidArgument": {
      const [, given = "", expected = ""] = split(rest, " argument '", "' is invalid. ");
      if (quoted.includes("--")) return `${name}=${given}: ${choicesOf(expected)}`;
      const [, argument = "", choices = ""] = split(rest, " is invalid for argument '", "'. ");
      return `<${argument}>=${quoted}: ${choicesOf(choices)}`;
    }
    case "commander.optionMissingArgument":
      return `${name}: value is missing, expected ${name} ${value}`;
    case "commander.missingMandatoryOptionValue":
      return `flag ${name} is required: ${name} ${value}`;
    case "commander.unknownOption":
      return `unknown flag: ${quoted}`;
    case "commander.unknownCommand":
      return `unknown command: ${quoted}`;
    case "commander.missingArgument":
      return `argument <${quoted}> is missing`;
    case "commander.excessArguments":
      return `${quoted}: unexpected argument ${rest.slice(rest.indexOf(": ") + 2).replace(/\.$/, "")}`;
    default:
      return text;
  }
}

const choicesOf = (text: string): string => text.replace(/^Allowed choices are (.*)\.$/, "expected one of $1");

/** Splits a text at the first `from` and the next `to`. */
function split(text: string, from: string, to: string): string[] {
  const start = text.indexOf(from);
  const end = text.indexOf(to, start + from.length);
  return start < 0 || end < 0
    ? [text]
    : [text.slice(0, start), text.slice(start + from.length, end), text.slice(end + to.length)];
}
