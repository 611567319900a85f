import type { Report, ScenarioResult } from "./lib/run.mjs";

/** How a run differs from the list of known gaps; both lists hold `scenario/step`, sorted. */
export interface GapComparison {
  /** Fails and is not listed. */
  readonly unexpectedFailures: readonly string[];
  /** Passes, or does not exist any more, and is listed. */
  readonly unexpectedPasses: readonly string[];
}

/** The entries of a gap file: one `scenario/step` per line, lines starting with # are comments. */
export function parseGaps(text: string): Set<string> {
  const lines = text.split("\n").map((line) => line.trim());
  return new Set(lines.filter((line) => line !== "" && !line.startsWith("#")));
}

/** The text of a gap file, sorted, with a heading that says where it comes from. */
export function printGaps(gaps: Iterable<string>): string {
  const heading = "# Golden steps that may still fail. Written by: node test/golden/run.ts --write-gaps\n";
  return (
    heading +
    [...gaps]
      .toSorted()
      .map((gap) => `${gap}\n`)
      .join("")
  );
}

/** All steps of a report that failed, as `scenario/step`. */
export function failedSteps(report: Report): Set<string> {
  return new Set(report.scenarios.flatMap((scenario) => stepNames(scenario, (step) => !step.ok)));
}

/** Compares a run with the list; of a partial run, only entries of scenarios that ran count. */
export function compareWithGaps(report: Report, gaps: ReadonlySet<string>, isPartial: boolean): GapComparison {
  const failed = failedSteps(report);
  const ran = new Set(report.scenarios.map((scenario) => scenario.name));
  const counts = (gap: string) => !isPartial || ran.has(scenarioOf(gap));
  return {
    unexpectedFailures: [...failed].filter((step) => !gaps.has(step)).toSorted(),
    unexpectedPasses: [...gaps].filter((gap) => counts(gap) && !failed.has(gap)).toSorted(),
  };
}

/** The list after a run: what failed in any of the reports, and of a partial run the old entries of other scenarios. */
export function nextGaps(reports: readonly Report[], gaps: ReadonlySet<string>, isPartial: boolean): Set<string> {
  const ran = new Set(reports.flatMap((report) => report.scenarios.map((scenario) => scenario.name)));
  const kept = isPartial ? [...gaps].filter((gap) => !ran.has(scenarioOf(gap))) : [];
  return new Set([...kept, ...reports.flatMap((report) => [...failedSteps(report)])]);
}

/** Steps that failed in some of the reports and passed in others. */
export function unsteadySteps(reports: readonly Report[]): string[] {
  const failures = reports.map(failedSteps);
  const everFailed = new Set(failures.flatMap((failed) => [...failed]));
  return [...everFailed].filter((step) => !failures.every((failed) => failed.has(step))).toSorted();
}

function stepNames(scenario: ScenarioResult, wanted: (step: ScenarioResult["steps"][number]) => boolean): string[] {
  return scenario.steps.filter(wanted).map((step) => `${scenario.name}/${step.id}`);
}

const scenarioOf = (gap: string) => gap.slice(0, gap.indexOf("/"));
