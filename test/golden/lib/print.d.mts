import type { ReplayOptions } from "./options.d.mts";
import type { Difference, Report, ScenarioResult } from "./run.d.mts";

export function printDifference(stepId: string, difference: Difference): string;
export function printScenario(result: ScenarioResult, options: ReplayOptions): string;
export function printAreas(report: Report): string;
export function printTotals(report: Report): string;
