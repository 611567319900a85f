import { readDuration } from "../../base/go/duration.ts";
import { parseBool } from "../../base/go/parse-bool.ts";
import { quote } from "../../base/go/quote.ts";
import { parseAddress } from "../../base/net/ip-address.ts";
import { type FlagType, flagTypes } from "./apiserver-flags.ts";

/** Parsed command line, in the order of the arguments. */
export interface ReadArguments {
  readonly flags: readonly (readonly [name: string, value: string])[];
  readonly wantsHelp: boolean;
  /** The value of `--version`, if given. */
  readonly version: string | undefined;
}

const SHORT: ReadonlyMap<string, string> = new Map([
  ["v", "v"],
  ["h", "help"],
]);
const INTEGER = /^(0x[0-9a-f]{1,40}|0o?[0-7]{1,40}|0b[01]{1,80}|[1-9]\d{0,40}|0)$/i;

/**
 * Parses kube-apiserver's command line like spf13/pflag. Throws pflag's error at the first argument that kube-apiserver
 * would reject.
 */
export function readArguments(args: readonly string[]): ReadArguments {
  const flags: [string, string][] = [];
  const positional: string[] = [];
  const rest = [...args];
  for (let arg = rest.shift(); arg !== undefined; arg = rest.shift()) {
    if (arg === "--") {
      for (const word of rest.splice(0)) positional.push(word);
    } else if (arg.startsWith("--")) {
      flags.push(readLong(arg.slice(2), rest));
    } else if (arg.startsWith("-") && arg !== "-") {
      readShort(arg.slice(1), rest, flags);
    } else {
      positional.push(arg);
    }
  }
  const last = (name: string) => flags.findLast(([flag]) => flag === name)?.[1];
  const help = last("help");
  const wantsHelp = parseBool(help ?? "") ?? false;
  if (positional.length > 0 && !wantsHelp) {
    throw new Error(`"kube-apiserver" does not take any arguments, got [${positional.map(quote).join(" ")}]`);
  }
  return {
    flags: flags.filter(([name]) => name !== "help" && name !== "version"),
    wantsHelp,
    version: last("version"),
  };
}

function readLong(text: string, rest: string[]): [string, string] {
  const at = text.indexOf("=");
  const written = at < 0 ? text : text.slice(0, at);
  if (written === "" || written.startsWith("-")) throw new Error(`bad flag syntax: --${text}`);
  // Compat: `WordSepNormalizeFunc` treats --etcd_servers as --etcd-servers.
  const name = written.replaceAll("_", "-");
  const type = typeOf(name);
  if (type === undefined) throw new Error(`unknown flag: --${name}`);
  if (at >= 0) return checked(name, type, text.slice(at + 1));
  if (type === "bool") return [name, "true"];
  const value = rest.shift();
  if (value === undefined) throw new Error(`flag needs an argument: --${name}`);
  return checked(name, type, value);
}

/** One argument may contain several flags: `-hv2`. */
function readShort(text: string, rest: string[], flags: [string, string][]): void {
  for (let left = text; left !== ""; ) {
    const [letter = ""] = left;
    const name = SHORT.get(letter);
    if (name === undefined) throw new Error(`unknown shorthand flag: ${printRune(letter)} in -${left}`);
    const type = typeOf(name) ?? "string";
    if (left[1] === "=") {
      flags.push(checked(name, type, left.slice(2)));
      return;
    }
    left = left.slice(1);
    if (type === "bool") {
      flags.push([name, "true"]);
      continue;
    }
    const value = left === "" ? rest.shift() : left;
    if (value === undefined) throw new Error(`flag needs an argument: ${printRune(letter)} in -${letter}`);
    flags.push(checked(name, type, value));
    return;
  }
}

const printRune = (letter: string): string => `'${letter}'`;

/** Both belong to the command line, not to the server. `--version` has no value, or `raw`. */
function typeOf(name: string): FlagType | undefined {
  return name === "help" || name === "version" ? "bool" : flagTypes.get(name);
}

function checked(name: string, type: FlagType, value: string): [string, string] {
  const problem = name === "version" && value === "raw" ? undefined : problemOf(type, value);
  if (problem === undefined) return [name, value];
  const short = [...SHORT].find(([, long]) => long === name)?.[0];
  const shown = short === undefined ? `--${name}` : `-${short}, --${name}`;
  throw new Error(`invalid argument ${quote(value)} for ${quote(shown)} flag: ${problem}`);
}

/** Go's error for a value that is not of the type; undefined if valid. Values of other types are not checked here. */
function problemOf(type: FlagType, value: string): string | undefined {
  switch (type) {
    case "bool":
      return parseBool(value) === undefined ? syntax("ParseBool", value) : undefined;
    case "int":
      return integerProblem("ParseInt", value, -(2n ** 63n), 2n ** 63n - 1n);
    case "uint":
      return integerProblem("ParseUint", value, 0n, 2n ** 64n - 1n);
    case "Level":
      return integerProblem("ParseUint", value, 0n, 2n ** 32n - 1n);
    case "float":
    case "float32":
      return /^[-+]?(\d{1,20}(\.\d{0,20})?|\.\d{1,20})(e[-+]?\d{1,4})?$/i.test(value)
        ? undefined
        : syntax("ParseFloat", value);
    case "duration": {
      const read = readDuration(value);
      return typeof read === "string" ? read : undefined;
    }
    case "ip":
      return value === "" || parseAddress(value) ? undefined : `failed to parse IP: ${quote(value)}`;
    case "stringToString":
      return value === "" || value.includes("=") ? undefined : `${value} must be formatted as key=value`;
    default:
      return undefined;
  }
}

const syntax = (read: string, value: string): string => `strconv.${read}: parsing ${quote(value)}: invalid syntax`;

/** Compat: with base 0, `strconv.ParseInt` also reads 0x10, 0o17 and 0b1. */
function integerProblem(read: string, value: string, min: bigint, max: bigint): string | undefined {
  const isSigned = /^[-+]/.test(value);
  const digits = isSigned ? value.slice(1) : value;
  if (!INTEGER.test(digits) || (isSigned && read === "ParseUint")) return syntax(read, value);
  const size = BigInt(/^0[0-7]+$/.test(digits) ? `0o${digits.slice(1)}` : digits);
  const number = value.startsWith("-") ? -size : size;
  return number < min || number > max ? `strconv.${read}: parsing ${quote(value)}: value out of range` : undefined;
}
