import {
  compareSemanticVersions,
  parseSemanticVersion,
  type SemanticVersion,
  SemverError,
  splitVersion,
} from "../../../base/util/semver.ts";
import { spendOnText } from "../cost/work.ts";
import type { Library } from "../standard/library.ts";
import { boolType, intType, stringType, structType } from "../values/types.ts";
import { CelError, Foreign, intOf, type Value } from "../values/value.ts";
import { declare, global, member } from "./declare.ts";

const semverType = structType("kubernetes.Semver");

class Semver extends Foreign {
  override readonly isUnhashable = true;
  override get goType(): string {
    return "cel.Semver";
  }
  readonly version: SemanticVersion;
  /** The length of its text. */
  readonly length: number;
  constructor(version: SemanticVersion, length: number) {
    super();
    this.version = version;
    this.length = length;
  }
  get type() {
    return semverType;
  }
  equals(other: Foreign): boolean {
    return other instanceof Semver && compareVersions(this, other) === 0;
  }
}

function compareVersions(a: Semver, b: Semver): number {
  spendOnText({ length: Math.min(a.length, b.length) }, "each");
  return compareSemanticVersions(a.version, b.version);
}

/** Compat: normalizeAndParse accepts a leading v, leading zeros and missing numbers. */
function normalize(text: string): string {
  const parts = splitVersion(text.startsWith("v") ? text.slice(1) : text).map((part) => {
    if (Buffer.byteLength(part) <= 1) return part;
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

/** A kubernetes.Semver. An error if the text is not a semantic version. */
export function semverValue(text: string, isNormalized = false): Value {
  spendOnText(text, "each");
  try {
    return new Semver(parseSemanticVersion(isNormalized ? normalize(text) : text), text.length);
  } catch (error) {
    if (!(error instanceof SemverError)) throw error;
    return new CelError(error.message);
  }
}

const isVersion = (text: string, isNormalized?: boolean) => !(semverValue(text, isNormalized) instanceof CelError);
const both = [semverType, semverType];
// Compat: types.Int(v.Major) wraps around beyond 63 bits.
const part = (name: string, index: number) =>
  declare(
    name,
    member(`semver_${name}`, [semverType], intType, ({ version }: Semver) =>
      intOf(BigInt.asIntN(64, version.numbers[index] as bigint)),
    ),
  );

/** kubernetes.Semver: semver, isSemver, comparisons, major, minor and patch. */
export const semverLibrary: Library = {
  name: "kubernetes.Semver",
  functions: [
    declare(
      "semver",
      global("string_to_semver", [stringType], semverType, (text: string) => semverValue(text)),
      global("string_bool_to_semver", [stringType, boolType], semverType, semverValue),
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
