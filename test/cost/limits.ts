import type { Difference } from "../fuzz/twins.ts";

/** A limit of ours, and how answers show that it was reached. */
interface Limit {
  /** The `what` of its entry below "differences" in test/golden/gap-reasons.json. */
  readonly what: string;
  readonly ours: RegExp;
  readonly theirs?: RegExp;
}

const LIMITS: readonly Limit[] = [
  { what: "A refusal tells of at most 5,000 errors in one object.", ours: /too many errors|5,?000/i },
  { what: "JSON may nest 1,000 levels deep.", ours: /exceeded max depth/ },
  { what: "A request's line and headers have at most 64 KB.", ours: /^"431 / },
  { what: "Quantities have at most 10,000 characters.", ours: /quantities must match/ },
];

/** The limit of ours that makes a difference; undefined when none does. */
export function limitOf({ theirs, ours }: Difference): string | undefined {
  const [their, our] = [JSON.stringify(theirs) ?? "", JSON.stringify(ours) ?? ""];
  return LIMITS.find((limit) => limit.ours.test(our) && (limit.theirs?.test(their) ?? !limit.ours.test(their)))?.what;
}
