import type { Difference } from "../fuzz/twins.ts";

/** A limit of Binnacle, and how responses show that it was reached. */
export interface Limit {
  /** The `what` of its entry below "differences" in test/golden/gap-reasons.json. */
  readonly what: string;
  readonly ours: RegExp;
  readonly theirs?: RegExp;
}

/** Responses that show that a limit was reached. */
export const LIMITS: readonly Limit[] = [
  { what: "JSON may nest 1,000 levels deep.", ours: /exceeded max depth/ },
  { what: "Quantities have at most 10,000 characters.", ours: /must be no more than 10000 characters/ },
  { what: "The request line and headers have at most 64 KB.", ours: /^"431 / },
  { what: "YAML aliases can repeat at most 3 MiB of text, or 100,000 values.", ours: /excessive aliasing/ },
  {
    what: "A body has at most 350,000 values, and at most 3 MiB of fields that are always written.",
    ours: /^"413 .*limit is \d+ (?:values|with the fields)/,
  },
];

/** The limit that explains a difference; undefined if there is none. */
export function limitOf({ theirs, ours }: Difference): string | undefined {
  const [their, our] = [JSON.stringify(theirs) ?? "", JSON.stringify(ours) ?? ""];
  return LIMITS.find((limit) => limit.ours.test(our) && (limit.theirs?.test(their) ?? !limit.ours.test(their)))?.what;
}
