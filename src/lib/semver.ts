/** A semantic version (2.0.0). Build metadata has no part in comparisons and is left out. */
export interface SemanticVersion {
  readonly numbers: readonly [major: bigint, minor: bigint, patch: bigint];
  /** Parts of the pre-release. */
  readonly preRelease: readonly string[];
}

const NUMBER = "(0|[1-9][0-9]*)";
const IDENTIFIER = "(?:0|[1-9][0-9]*|[0-9]*[a-zA-Z-][0-9a-zA-Z-]*)";
const BUILD = "[0-9a-zA-Z-]+(?:\\.[0-9a-zA-Z-]+)*";
const VERSION = new RegExp(
  `^${NUMBER}\\.${NUMBER}\\.${NUMBER}(?:-(${IDENTIFIER}(?:\\.${IDENTIFIER})*))?(?:\\+${BUILD})?$`,
);
const MAX_NUMBER = 2n ** 64n - 1n;

/** The version that a text is, or undefined when it is none. */
export function parseSemanticVersion(text: string): SemanticVersion | undefined {
  const match = VERSION.exec(text);
  if (!match) return undefined;
  const [, major = "0", minor = "0", patch = "0", preRelease] = match;
  const numbers = [BigInt(major), BigInt(minor), BigInt(patch)] as const;
  if (numbers.some((number) => number > MAX_NUMBER)) return undefined;
  return { numbers, preRelease: preRelease === undefined ? [] : preRelease.split(".") };
}

/** Negative, zero or positive: how two versions follow each other. */
export function compareSemanticVersions(left: SemanticVersion, right: SemanticVersion): number {
  for (const [index, number] of left.numbers.entries()) {
    const other = right.numbers[index] ?? 0n;
    if (number !== other) return number < other ? -1 : 1;
  }
  // A version with a pre-release comes before the one without.
  if (left.preRelease.length === 0 || right.preRelease.length === 0) {
    return right.preRelease.length - left.preRelease.length;
  }
  for (const [index, part] of left.preRelease.entries()) {
    const other = right.preRelease[index];
    if (other === undefined) return 1;
    const order = compareParts(part, other);
    if (order !== 0) return order;
  }
  return left.preRelease.length - right.preRelease.length;
}

function compareParts(left: string, right: string): number {
  const isNumber = /^[0-9]+$/;
  if (isNumber.test(left) !== isNumber.test(right)) return isNumber.test(left) ? -1 : 1;
  if (left === right) return 0;
  const isLess = isNumber.test(left) ? BigInt(left) < BigInt(right) : left < right;
  return isLess ? -1 : 1;
}
