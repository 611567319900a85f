import type { Judgement } from "./judge.ts";
import type { Reporter } from "./report-words.ts";

/** Exit codes. Compat: `kubectl diff` also exits with 0 and 1, and with more than 1 if it fails. */
export const EXIT_CODES = { same: 0, different: 1, refused: 2, failed: 3 } as const;

/** Prints judgements. Resolves to the exit code. */
export async function printDiff(
  judgements: AsyncIterable<Judgement>,
  reporter: Reporter,
  print: (text: string) => void,
): Promise<number> {
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
