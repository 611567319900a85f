import { isIP } from "node:net";
import { printMilliseconds, readDuration } from "../go/duration.ts";
import { parseBool } from "../go/parse-bool.ts";
import { parseRange } from "../net/ip-range.ts";

/** The type of an option's values: how a flag writes them, and which values a program may pass. */
export interface ValueType<T> {
  /** The TypeScript type, for the reference. */
  readonly name: string;
  /** What a value has to be. Follows "expected" in error messages. */
  readonly expected: string;
  /** Stands for the value in `--help`. */
  readonly placeholder: string;
  /** Whether a program may pass the value. */
  accepts(value: unknown): boolean;
  /** Reads the value of a flag; `before` is the value from an earlier use of the flag. Throws InvalidValue. */
  parse?(text: string, before?: T): T;
  /** How `--help` shows a default. */
  print?(value: T): string;
  /** The flag may omit its value, which means true. */
  readonly isSwitch?: true;
  /** The value names files that the server reads. */
  readonly reads?: FileContent;
}

/** What a file has to contain, as far as it is checked before the start. */
export type FileContent = "certificates" | "a private key" | "keys" | "anything";

/** The value of a flag cannot be read. The message follows the flag and the value. */
export class InvalidValue extends Error {}

/** Throws InvalidValue. */
export function reject(message: string): never {
  throw new InvalidValue(message);
}

const isString = (value: unknown): value is string => typeof value === "string";
const isStrings = (value: unknown): value is string[] => Array.isArray(value) && value.every(isString);
const isNumber = (value: unknown): value is number => typeof value === "number" && Number.isFinite(value);
/** Whether a value is an object, but no list. */
export const isRecord = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === "object" && value !== null && !Array.isArray(value);

/** A type of strings. Programs must not pass an empty string. */
const plain: ValueType<string> = {
  name: "string",
  expected: "a non-empty string",
  placeholder: "text",
  accepts: (value) => isString(value) && value !== "",
  parse: (text) => text,
};

/** A string. */
export const text = (placeholder: string): ValueType<string> => ({ ...plain, placeholder });
/** A string that may be empty. */
export const anyText = (placeholder: string): ValueType<string> => ({
  ...plain,
  placeholder,
  expected: "a string",
  accepts: isString,
});
/** A folder. */
export const folder: ValueType<string> = text("folder");
/** A file that the server writes. */
export const outputFile: ValueType<string> = text("file");
/** A file that the server reads. */
export const file = (reads: FileContent = "anything"): ValueType<string> => ({ ...text("file"), reads });

/** A string with a rule that holds for flags and programs alike. */
export function textWhere(placeholder: string, expected: string, isGood: (text: string) => boolean): ValueType<string> {
  const parse = (given: string) => (isGood(given) ? given : reject(`expected ${expected}`));
  return { ...plain, placeholder, expected, accepts: (value) => isString(value) && isGood(value), parse };
}

/** One of several words. */
export function choice<const T extends string>(words: readonly T[]): ValueType<T> {
  const isWord = (value: unknown): value is T => (words as readonly unknown[]).includes(value);
  return {
    name: words.map((word) => JSON.stringify(word)).join(" | "),
    expected: words.map((word) => JSON.stringify(word)).join(" or "),
    placeholder: words.join("|"),
    accepts: isWord,
    parse: (given) => (isWord(given) ? given : reject(`expected one of ${words.join(", ")}`)),
  };
}

/** One of several words. The flag accepts any word: an unknown one is rejected later, with kube-apiserver's message. */
export const lateChoice = <const T extends string>(words: readonly T[]): ValueType<T> => ({
  ...choice(words),
  parse: (given) => given as T,
});

/** Compat: flags are read as Go's `strconv.ParseBool` reads them. */
export const boolean: ValueType<boolean> = {
  name: "boolean",
  expected: "true or false",
  placeholder: "true|false",
  isSwitch: true,
  accepts: (value) => typeof value === "boolean",
  parse: (given) => parseBool(given) ?? reject("expected true or false"),
};

const number = { name: "number", print: (value: number) => String(value) };

/** A whole number, which may be negative: kube-apiserver's own messages reject those that may not. */
export const integer = (placeholder = "count"): ValueType<number> => ({
  ...number,
  placeholder,
  expected: "a whole number",
  accepts: Number.isSafeInteger,
  parse: (given) => (/^-?\d{1,15}$/.test(given) ? Number(given) : reject("expected a whole number")),
});

/** A number of something. */
export const count: ValueType<number> = {
  ...integer(),
  expected: "a whole number, 0 or more",
  accepts: (value) => Number.isSafeInteger(value) && Number(value) >= 0,
};

/** A number with or without a fraction. */
export const decimal: ValueType<number> = {
  ...number,
  placeholder: "number",
  expected: "a number",
  accepts: isNumber,
  parse: (given) => (/^-?\d{1,9}(\.\d{1,9})?$/.test(given) ? Number(given) : reject("expected a number")),
};

/** A TCP port. */
export const port: ValueType<number> = {
  ...count,
  placeholder: "port",
  expected: "a port from 0 to 65535",
  accepts: (value) => Number.isInteger(value) && Number(value) >= 0 && Number(value) < 65_536,
  parse: (given) =>
    /^\d{1,5}$/.test(given) && Number(given) < 65_536 ? Number(given) : reject("expected a port from 0 to 65535"),
};

/** Milliseconds. Compat: a flag is read as Go's `time.ParseDuration` reads it. */
export const duration: ValueType<number> = {
  name: "number",
  placeholder: "duration",
  expected: "milliseconds, 0 or more",
  accepts: (value) => isNumber(value) && value >= 0 && value < 2 ** 53,
  parse(given) {
    const read = readDuration(given);
    return isString(read) || read < 0n ? reject("expected a duration such as 5m0s, or 0") : Number(read) / 1e6;
  },
  print: printMilliseconds,
};

/** Strings in the order given. Compat: pflag's StringArray, whose flag may be repeated. */
export const repeated = (placeholder: string, reads?: FileContent): ValueType<readonly string[]> => ({
  name: "string[]",
  expected: "a list of strings",
  placeholder,
  ...(reads && { reads }),
  accepts: isStrings,
  parse: (given, before = []) => [...before, given],
  print: (value) => value.join(","),
});

/** Strings. Compat: pflag's StringSlice, whose flag may be repeated and has commas between values. */
export const list = (placeholder: string, reads?: FileContent): ValueType<readonly string[]> => ({
  ...repeated(placeholder, reads),
  parse: (given, before = []) => [...before, ...given.split(",").filter((one) => one !== "")],
});

/** The same, but keeps empty strings, so that they can be rejected. */
export const listWithEmpty = (placeholder: string): ValueType<readonly string[]> => ({
  ...repeated(placeholder),
  parse: (given, before = []) => [...before, ...given.split(",")],
});

/** Names with values. The flag may be repeated. */
export const pairs: ValueType<Readonly<Record<string, string>>> = {
  name: "Record<string, string>",
  expected: "an object whose members are strings",
  placeholder: "name=value",
  accepts: (value) => isRecord(value) && Object.values(value).every(isString),
  parse(given, before = {}) {
    const at = given.indexOf("=");
    if (at < 0) return reject("malformed pair, expect string=string");
    return Object.fromEntries([...Object.entries(before), [given.slice(0, at).trim(), given.slice(at + 1).trim()]]);
  },
  print: () => "",
};

/** An address to listen on. */
export const bindAddress: ValueType<string> = {
  ...textWhere(
    "address",
    "an IP address of this machine such as 127.0.0.1, or 0.0.0.0 for all of them",
    (given) => isIP(given) !== 0 || given === "localhost",
  ),
  accepts: plain.accepts,
};
/** An address that other machines connect to. */
export const ipAddress: ValueType<string> = {
  ...textWhere("address", "an IP address that other machines can connect to", (given) => isIP(given) !== 0),
  accepts: plain.accepts,
};
/** A range of IP addresses, or two with a comma between them. */
export const addressRanges: ValueType<string> = textWhere(
  "cidr",
  "a CIDR such as 10.0.0.0/24, or two separated by a comma",
  (given) => given.split(",").every((one) => parseRange(one) !== undefined),
);
/** A domain with at least two labels. */
export const domain: ValueType<string> = textWhere("domain", "a domain such as k8s.io", (given) =>
  /^[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)+$/.test(given),
);

/** A value that no flag can have, such as a function. */
export function programValue<T>(name: string, expected: string, accepts: (value: unknown) => boolean): ValueType<T> {
  return { name, expected, placeholder: "", accepts };
}

/** An object with these functions. */
export const functions = <T>(name: string, names: readonly string[]): ValueType<T> =>
  programValue(
    name,
    `an object with the functions ${names.join(", ")}`,
    (value) => isRecord(value) && names.every((one) => typeof value[one] === "function"),
  );
