import { TooCostly } from "../../../base/util/meter.ts";

/**
 * What the current evaluation may still do besides its cost, in units of the meter. Some functions do far more than cel-go
 * charges for: `list.sort()` costs 1. Evaluations are synchronous, so a single value is enough for all of them.
 */
export const work = { left: Number.POSITIVE_INFINITY };

/** Reading or copying so many characters takes about one unit of the meter, one by one, or as a whole. */
const CHARACTERS_PER_UNIT = { each: 4, whole: 100 } as const;
/** What any text may take. */
const FREE_CHARACTERS = 40;

/** Call it for work on a text that cel-go does not charge for. Throws TooCostly like `spend`. */
export function spendOnText({ length }: { readonly length: number }, how: keyof typeof CHARACTERS_PER_UNIT): void {
  if (length > FREE_CHARACTERS) spend(length / CHARACTERS_PER_UNIT[how]);
}

/** Call it in loops over values, before they run. Throws TooCostly if the meter of the request has less left. */
export function spend(units: number): void {
  work.left -= units;
  if (work.left < 0) throw new TooCostly();
}
