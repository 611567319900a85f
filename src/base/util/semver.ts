import { quote } from "../go/quote.ts";

/** A semantic version (2.0.0). Build metadata does not affect comparisons and is left out. */
export interface SemanticVersion {
  readonly numbers: readonly [major: bigint, minor: bigint, patch: bigint];
  readonly preRelease: readonly PreReleasePart[];
}

type PreReleasePart = bigint | string;

/** The text is not a version. The message is that of blang/semver. */
export class SemverError extends Error {}

const MAX_UINT64 = (1n << 64n) - 1n;
const isDigits = (text: string) => /^[0-9]*$/.test(text);
const isAlphanumeric = (text: string) => /^[0-9A-Za-z-]*$/.test(text);

/** Parses a 64-bit number like Go's strconv.ParseUint. */
function parseUint(digits: string): bigint {
  const fail = (reason: string): never => {
    throw new SemverError(`strconv.ParseUint: parsing ${quote(digits)}: ${reason}`);
  };
  if (digits === "") return fail("invalid syntax");
  // No 64-bit number without leading zeros has more digits.
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

function preReleasePart(text: string): PreReleasePart {
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

/** Major, minor and the rest of a version, like Go's SplitN(text, ".", 3). */
export function splitVersion(text: string): string[] {
  const parts = text.split(".");
  return parts.length <= 3 ? parts : [parts[0] as string, parts[1] as string, parts.slice(2).join(".")];
}

/** Parses a version like blang/semver's Parse. Throws SemverError. */
export function parseSemanticVersion(text: string): SemanticVersion {
  if (text === "") throw new SemverError("Version string empty");
  const parts = splitVersion(text);
  if (parts.length !== 3) throw new SemverError("No Major.Minor.Patch elements found");
  const [majorText, minorText, rest] = parts as [string, string, string];
  const major = numberIn(majorText, "Major");
  const minor = numberIn(minorText, "Minor");
  const plus = rest.indexOf("+");
  const build = plus < 0 ? [] : rest.slice(plus + 1).split(".");
  const withoutBuild = plus < 0 ? rest : rest.slice(0, plus);
  const dash = withoutBuild.indexOf("-");
  const patch = numberIn(dash < 0 ? withoutBuild : withoutBuild.slice(0, dash), "Patch");
  const preRelease = dash < 0 ? [] : withoutBuild.slice(dash + 1).split(".");
  const numbers = [major, minor, patch] as const;
  const version = { numbers, preRelease: preRelease.map(preReleasePart) };
  for (const part of build) {
    if (part === "") throw new SemverError("Build meta data is empty");
    if (!isAlphanumeric(part)) throw new SemverError(`Invalid character(s) found in build meta data ${quote(part)}`);
  }
  return version;
}

/** Parses a version. Undefined if the text is not a version. */
export function findSemanticVersion(text: string): SemanticVersion | undefined {
  try {
    return parseSemanticVersion(text);
  } catch (error) {
    if (error instanceof SemverError) return undefined;
    throw error;
  }
}

/** Compares two versions: -1, 0 or 1. */
export function compareSemanticVersions(left: SemanticVersion, right: SemanticVersion): number {
  const order = compareLists(left.numbers, right.numbers);
  if (order !== 0) return order;
  // A version with a pre-release precedes the one without.
  if (left.preRelease.length === 0 || right.preRelease.length === 0) {
    return Math.sign(right.preRelease.length - left.preRelease.length);
  }
  return compareLists(left.preRelease, right.preRelease);
}

function compareLists(left: readonly PreReleasePart[], right: readonly PreReleasePart[]): number {
  for (let at = 0; at < left.length && at < right.length; at++) {
    const order = compareParts(left[at] as PreReleasePart, right[at] as PreReleasePart);
    if (order !== 0) return order;
  }
  return Math.sign(left.length - right.length);
}

/** Numbers precede texts. */
function compareParts(left: PreReleasePart, right: PreReleasePart): number {
  if (typeof left !== typeof right) return typeof left === "bigint" ? -1 : 1;
  return left < right ? -1 : left > right ? 1 : 0;
}
