import { escapeHtml } from "../../base/util/escape-html.ts";
import type { Judgement } from "./judge.ts";
import {
  headOf,
  isShown,
  printTally,
  type Reporter,
  type ReportOptions,
  shownCauses,
  shownDiff,
} from "./report-words.ts";

/** Prints the summary, a list of the objects, and diffs to unfold, for comments on pull requests. */
export function markdownReporter(options: ReportOptions): Reporter {
  const items: string[] = [];
  const diffs: string[] = [];
  return {
    begin: () => "",
    judgement(judgement) {
      if (!isShown(judgement, options)) return "";
      items.push(printItem(judgement));
      const diff = shownDiff(judgement, options);
      if (diff !== "") diffs.push(printDetails(headOf(judgement), diff));
      return "";
    },
    end(tally) {
      const parts = [`**${printTally(tally)}**`, ...(items.length > 0 ? [items.join("\n")] : []), ...diffs];
      return `${parts.join("\n\n")}\n`;
    },
  };
}

function printItem(judgement: Judgement): string {
  const { verdict, refusal, warnings, file, line } = judgement;
  const head = verdict === "refused" ? `**${inline(headOf(judgement))}**` : inline(headOf(judgement));
  const about = refusal ? [`${refusal.message} (${file}, line ${line})`, ...shownCauses(judgement)] : [];
  const lines = [...about, ...warnings.map((warning) => `warning: ${warning}`)];
  return [`- ${head}`, ...lines.map((text) => `  - ${inline(text)}`)].join("\n");
}

function printDetails(head: string, diff: string): string {
  const ticks = [...diff.matchAll(/`+/g)].map(([run]) => run.length);
  const fence = "`".repeat(ticks.reduce((most, count) => Math.max(most, count + 1), 3));
  return `<details><summary>${escapeHtml(oneLine(head))}</summary>\n\n${fence}diff\n${diff}${fence}\n\n</details>`;
}

const oneLine = (text: string): string => text.replace(/\s+/g, " ").trim();

/** One line of plain text: nothing in it is markup, a link or a mention. */
function inline(text: string): string {
  return oneLine(text)
    .replace(/[\\`*_[\]#|~]/g, "\\$&")
    .replace(/[&<>]/g, (character) => escapeHtml(character))
    .replaceAll("@", "@\u200b");
}
