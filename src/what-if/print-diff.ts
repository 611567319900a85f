import type { Judgement } from "./judge.ts";
import { type Output, reporterFor } from "./report.ts";

/** What the process ends with. Compat: `kubectl diff` ends with 0 and 1 likewise, and with more than 1 when it fails. */
export const EXIT_CODES = { same: 0, different: 1, refused: 2, failed: 3 } as const;

/** Prints judgements in a form as they come, and resolves to what the process is to end with. */
export async function printDiff(
  judgements: AsyncIterable<Judgement>,
  output: Output,
  print: (text: string) => void,
): Promise<number> {
  const reporter = reporterFor(output);
  const tally = { created: 0, changed: 0, unchanged: 0, refused: 0 };
  print(reporter.begin());
  for await (const judgement of judgements) {
    tally[judgement.verdict]++;
    print(reporter.judgement(judgement));
  }
  print(reporter.end(tally));
  if (tally.refused > 0) return EXIT_CODES.refused;
  return tally.created + tally.changed > 0 ? EXIT_CODES.different : EXIT_CODES.same;
}
