import { quote } from "../../lib/go/quote.ts";
import type { Library } from "../library/library.ts";
import { compareText } from "../values/text.ts";
import { boolType, intType, stringType, structType } from "../values/types.ts";
import { CelError, Foreign, intOf, type Value } from "../values/value.ts";
import { declare, global, member } from "./declare.ts";

const semverType = structType("kubernetes.Semver");

type Part = bigint | string;

class Semver extends Foreign {
  readonly numbers: readonly bigint[];
  readonly preRelease: readonly Part[];
  constructor(numbers: readonly bigint[], preRelease: readonly Part[]) {
    super();
    this.numbers = numbers;
    this.preRelease = preRelease;
  }
  get type() {
    return semverType;
  }
  equals(other: Foreign): boolean {
    return other instanceof Semver && compareVersions(this, other) === 0;
  }
}

class SemverError extends Error {}

const MAX_UINT64 = (1n << 64n) - 1n;
const isDigits = (text: string) => /^[0-9]*$/.test(text);
const isAlphanumeric = (text: string) => /^[0-9A-Za-z-]*$/.test(text);

/** A number of 64 bits as Go's strconv.ParseUint reads it. */
function parseUint(digits: string): bigint {
  const fail = (reason: string): never => {
    throw new SemverError(`strconv.ParseUint: parsing ${quote(digits)}: ${reason}`);
  };
  if (digits === "") return fail("invalid syntax");
  // No number of 64 bits without leading zeros has more digits.
  const value = digits.length > 20 ? MAX_UINT64 + 1n : BigInt(digits);
  return value > MAX_UINT64 ? fail("value out of range") : value;
}

function numberIn(digits: string, name: string): bigint {
  if (!isDigits(digits)) {
    throw new SemverError(`Invalid character(s) found in ${name.toLowerCase()} number ${quote(digits)}`);
  }
  if (digits.length > 1 && digits.startsWith("0")) {
    throw new SemverError(`${name} number must not contain leading zeroes ${quote(digits)}`);
  }
  return parseUint(digits);
}

function preReleasePart(text: string): Part {
  if (text === "") throw new SemverError("Prerelease is empty");
  if (isDigits(text)) {
    if (text.length > 1 && text.startsWith("0")) {
      throw new SemverError(`Numeric PreRelease version must not contain leading zeroes ${quote(text)}`);
    }
    return parseUint(text);
  }
  if (!isAlphanumeric(text)) throw new SemverError(`Invalid character(s) found in prerelease ${quote(text)}`);
  return text;
}

/** The first two parts and what is left, as Go's SplitN(text, ".", 3). */
function splitThree(text: string): string[] {
  const parts = text.split(".");
  return parts.length <= 3 ? parts : [parts[0] as string, parts[1] as string, parts.slice(2).join(".")];
}

/** Reads a version as blang/semver's Parse does. */
function parseVersion(text: string): Semver {
  if (text === "") throw new SemverError("Version string empty");
  const parts = splitThree(text);
  if (parts.length !== 3) throw new SemverError("No Major.Minor.Patch elements found");
  const [majorText, minorText, rest] = parts as [string, string, string];
  const major = numberIn(majorText, "Major");
  const minor = numberIn(minorText, "Minor");
  const plus = rest.indexOf("+");
  const build = plus < 0 ? [] : rest.slice(plus + 1).split(".");
  const withoutBuild = plus < 0 ? rest : rest.slice(0, plus);
  const dash = withoutBuild.indexOf("-");
  const patch = numberIn(dash < 0 ? withoutBuild : withoutBuild.slice(0, dash), "Patch");
  const preRelease =
    dash < 0
      ? []
      : withoutBuild
          .slice(dash + 1)
          .split(".")
          .map(preReleasePart);
  for (const part of build) {
    if (part === "") throw new SemverError("Build meta data is empty");
    if (!isAlphanumeric(part)) throw new SemverError(`Invalid character(s) found in build meta data ${quote(part)}`);
  }
  return new Semver([major, minor, patch], preRelease);
}

/** Compat: normalizeAndParse takes a leading v, leading zeros and missing numbers. */
function normalize(text: string): string {
  const parts = splitThree(text.startsWith("v") ? text.slice(1) : text).map((part) => {
    if (part.length <= 1) return part;
    const trimmed = part.slice(leadingZeros(part));
    return /^[0-9]/.test(trimmed) ? trimmed : `0${trimmed}`;
  });
  if (parts.length < 3 && /[+-]/.test(parts.at(-1) ?? "")) {
    throw new SemverError("short version cannot contain PreRelease/Build meta data");
  }
  while (parts.length < 3) parts.push("0");
  return parts.join(".");
}

function leadingZeros(text: string): number {
  let count = 0;
  while (text[count] === "0") count++;
  return count;
}

function parse(text: string, isNormalized = false): Value {
  try {
    return parseVersion(isNormalized ? normalize(text) : text);
  } catch (error) {
    if (!(error instanceof SemverError)) throw error;
    return new CelError(error.message);
  }
}

function compareParts(a: Part, b: Part): number {
  if (typeof a === "bigint") return typeof b === "bigint" ? (a < b ? -1 : a > b ? 1 : 0) : -1;
  return typeof b === "bigint" ? 1 : compareText(a, b);
}

function compareVersions(a: Semver, b: Semver): number {
  for (let i = 0; i < 3; i++) {
    const order = compareParts(a.numbers[i] as bigint, b.numbers[i] as bigint);
    if (order !== 0) return order;
  }
  // A version with a pre-release comes before the one without.
  if (a.preRelease.length === 0 || b.preRelease.length === 0) {
    return Math.sign(b.preRelease.length - a.preRelease.length);
  }
  for (let i = 0; i < a.preRelease.length && i < b.preRelease.length; i++) {
    const order = compareParts(a.preRelease[i] as Part, b.preRelease[i] as Part);
    if (order !== 0) return order;
  }
  return Math.sign(a.preRelease.length - b.preRelease.length);
}

const isVersion = (text: string, isNormalized?: boolean) => !(parse(text, isNormalized) instanceof CelError);
const both = [semverType, semverType];
// Compat: types.Int(v.Major) wraps around beyond 63 bits.
const part = (name: string, index: number) =>
  declare(
    name,
    member(`semver_${name}`, [semverType], intType, ({ numbers }: Semver) =>
      intOf(BigInt.asIntN(64, numbers[index] as bigint)),
    ),
  );

/** kubernetes.Semver: semver, isSemver, comparisons, major, minor and patch. */
export const semverLibrary: Library = {
  name: "kubernetes.Semver",
  functions: [
    declare(
      "semver",
      global("string_to_semver", [stringType], semverType, (text: string) => parse(text)),
      global("string_bool_to_semver", [stringType, boolType], semverType, parse),
    ),
    declare(
      "isSemver",
      global("is_semver_string", [stringType], boolType, (text: string) => isVersion(text)),
      global("is_semver_string_bool", [stringType, boolType], boolType, isVersion),
    ),
    declare(
      "isGreaterThan",
      member("semver_is_greater_than", both, boolType, (a: Semver, b: Semver) => compareVersions(a, b) > 0),
    ),
    declare(
      "isLessThan",
      member("semver_is_less_than", both, boolType, (a: Semver, b: Semver) => compareVersions(a, b) < 0),
    ),
    declare("compareTo", member("semver_compare_to", both, intType, compareVersions)),
    part("major", 0),
    part("minor", 1),
    part("patch", 2),
  ],
};
