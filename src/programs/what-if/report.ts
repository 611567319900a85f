import { junitReporter } from "./report-junit.ts";
import { markdownReporter } from "./report-markdown.ts";
import { textReporter } from "./report-text.ts";
import type { Reporter, ReportOptions } from "./report-words.ts";

/** The output formats of `binnacle diff`. */
export const OUTPUTS = ["text", "markdown", "json", "junit"] as const;

/** One of them. */
export type Output = (typeof OUTPUTS)[number];

/** Returns the reporter of a format. */
export function reporterFor(output: Output, options: ReportOptions = {}): Reporter {
  return REPORTERS[output](options);
}

const REPORTERS: Readonly<Record<Output, (options: ReportOptions) => Reporter>> = {
  text: textReporter,
  markdown: markdownReporter,
  json: jsonReporter,
  junit: junitReporter,
};

function jsonReporter(): Reporter {
  let isFirst = true;
  return {
    begin: () => '{"objects":[',
    judgement(judgement) {
      const separator = isFirst ? "\n" : ",\n";
      isFirst = false;
      return separator + JSON.stringify(judgement);
    },
    end: (tally) => `\n],"summary":${JSON.stringify(tally)}}\n`,
  };
}
