import { SIZES } from "./cases.ts";
import type { Place } from "./places.ts";
import { type CostResult, heldMs, isFailure, isGrown, printCost, printKey } from "./results.ts";
import type { PlaceClass } from "./screening.ts";
import type { Screened } from "./state.ts";

/** All results of a run. */
export interface Run {
  readonly title: string;
  /** The classes to screen in this part, and the places of all parts. */
  readonly classes: readonly PlaceClass[];
  readonly places: readonly Place[];
  readonly screened: readonly Screened[];
  /** How many of the other requests, and of the places in every way, were sent. */
  readonly others: string;
  readonly matrix: string;
  readonly results: readonly CostResult[];
  /** Results to list, and the functions that took their time. */
  readonly dearest: readonly CostResult[];
  readonly holders: readonly string[];
}

const MOST_LISTED = 30;

/** The report as lines. */
export function report(run: Run): string[] {
  const { classes, places, screened, results, dearest, holders } = run;
  const isLarge = ({ key: [, , , size] }: CostResult) => size > SIZES.screen;
  const failed = results.filter(isFailure);
  const grown = results.filter(isGrown).toSorted((one, other) => other.grownBytes - one.grownBytes);
  return [
    run.title,
    ...(["screen", "large"] as const).map((size) => {
      const some = screened.filter((one) => one.size === size);
      const sum = (of: (one: Screened) => number) => some.reduce((total, one) => total + of(one), 0);
      return `screened at ${SIZES[size]} bytes: ${some.length} of ${classes.length} fields, ${sum((one) => one.places)} of ${places.length} places, ${sum((one) => one.requests)} requests`;
    }),
    `without a place: ${run.others}`,
    `in every way and encoding: places ${run.matrix}`,
    `100 KB, processor time: ${distribution(results.filter((one) => !isLarge(one)).map((one) => one.processorMs))}`,
    `2.5 MB, processor time: ${distribution(results.filter(isLarge).map((one) => one.processorMs))}`,
    `100 KB, loop held: ${distribution(results.filter((one) => !isLarge(one)).map(heldMs))}`,
    `2.5 MB, loop held: ${distribution(results.filter(isLarge).map(heldMs))}`,
    `stall of another connection: ${distribution(results.map((one) => one.stallMs ?? 0))}`,
    `${failed.length} failures; ${grown.length} above ten times their body in memory`,
    `the dearest ${dearest.length}:`,
    ...dearest.flatMap((one, index) => [printCost(one), `         by ${holders[index] ?? "nothing known"}`]),
    "the loop was held longest by:",
    ...results
      .toSorted((one, other) => heldMs(other) - heldMs(one))
      .slice(0, MOST_LISTED)
      .map(printCost),
    "most memory:",
    ...grown.slice(0, MOST_LISTED).map(printCost),
    ...failed.map(({ key, status, text }) => `${status || "no answer"}: ${printKey(key)}\n  ${text?.slice(0, 300)}`),
  ];
}

/**
 * How many figures exceed some bounds. Only the most expensive of each place are included, so the lowest bound is not a
 * total.
 */
export function distribution(figures: readonly number[]): string {
  const bounds = [50, 100, 250, 500, 1000, 2000];
  const most = figures.reduce((one, other) => Math.max(one, other), 0);
  const counts = bounds.map((ms) => `${figures.filter((figure) => figure > ms).length} above ${ms} ms`);
  return `${counts.join(", ")}, most ${Math.round(most)} ms`;
}
