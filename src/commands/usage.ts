import type { CommanderError } from "commander";
import { type Example, Failure } from "./command.ts";

/** What stands before the usage of a command: what it is for, and how it is used. */
export function introduction(summary: string, examples: readonly Example[]): string {
  const lines = examples.flatMap(([purpose, line]) => [`  # ${purpose}`, `  ${line}`, ""]);
  return [`${summary}.`, "", ...(lines.length > 0 ? ["Examples:", ...lines] : [])].join("\n");
}

const MAX_TEXT = 2000;

/** A mistake in the arguments, with what was probably meant, and where to read what is possible. */
export function usageFailure({ message, code }: CommanderError, args: readonly string[]): Failure {
  const [told = "", meant] = message
    .slice(0, MAX_TEXT)
    .replace(/^error: /, "")
    .split("\n(Did you mean ");
  const [command = ""] = args;
  const isCommand = command !== "" && !command.startsWith("-") && code !== "commander.unknownCommand";
  const help = `See: binnacle ${isCommand ? `${command} ` : ""}--help`;
  const next = meant === undefined ? help : `Did you mean ${meant.replace(/\)$/, "")} ${help}`;
  return new Failure(reword(told, code), next);
}

/** Commander quotes what it tells of: the flags of an option, what was given, or the name of an argument. */
function reword(told: string, code: string): string {
  const [, quoted = "", rest = ""] = split(told, "'", "'");
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
      return `${name}: a value is missing: ${name} ${value}`;
    case "commander.missingMandatoryOptionValue":
      return `${name} is missing: ${name} ${value}`;
    case "commander.unknownOption":
      return `there is no flag ${quoted}`;
    case "commander.unknownCommand":
      return `there is no command ${JSON.stringify(quoted)}`;
    case "commander.missingArgument":
      return `the argument <${quoted}> is missing`;
    case "commander.excessArguments":
      return `${quoted} takes no further argument, got: ${rest.slice(rest.indexOf(": ") + 2).replace(/\.$/, "")}`;
    default:
      return told;
  }
}

const choicesOf = (text: string): string => text.replace(/^Allowed choices are (.*)\.$/, "expected one of $1");

/** What stands before the first `from`, between it and the `to` after it, and behind that. */
function split(text: string, from: string, to: string): string[] {
  const start = text.indexOf(from);
  const end = text.indexOf(to, start + from.length);
  return start < 0 || end < 0
    ? [text]
    : [text.slice(0, start), text.slice(start + from.length, end), text.slice(end + to.length)];
}
