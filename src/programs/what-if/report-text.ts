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

/** ANSI codes. */
const BOLD = "1";
const RED = "31";
const GREEN = "32";
const CYAN = "36";

/** Control characters except tabs and line breaks. A terminal might act on those of a hostile manifest. */
// biome-ignore lint/suspicious/noControlCharactersInRegex: they are replaced
const CONTROLS = /[\u0000-\u0008\u000b-\u001f\u007f-\u009f]/g;

const HEAD_COLOURS: Readonly<Record<Judgement["verdict"], string>> = {
  created: GREEN,
  changed: BOLD,
  unchanged: BOLD,
  refused: RED,
};

/** Prints the summary, then the objects in the order of the manifests. */
export function textReporter(options: ReportOptions): Reporter {
  const pieces: string[] = [];
  const paint = options.hasColour ? painted : (_: string, text: string) => text;
  return {
    begin: () => "",
    judgement(judgement) {
      if (isShown(judgement, options)) pieces.push(printText(judgement, options, paint));
      return "";
    },
    end(tally) {
      const summary = `${paint(BOLD, printTally(tally))}\n`;
      if (options.isQuiet) return pieces.join("");
      return [summary, ...(pieces.length > 0 ? ["\n", ...pieces] : [])].join("");
    },
  };
}

type Paint = (colour: string, text: string) => string;

const painted: Paint = (colour, text) => `\u001b[${colour}m${text}\u001b[0m`;

function printText(judgement: Judgement, options: ReportOptions, paint: Paint): string {
  const { verdict, file, line, refusal, warnings } = judgement;
  const about = refusal
    ? [`  in ${file}, line ${line}`, `  ${refusal.message}`, ...shownCauses(judgement).map((cause) => `    ${cause}`)]
    : [];
  const lines = [...about, ...warnings.map((warning) => `  warning: ${warning}`)].map(clean);
  const diff = shownDiff(judgement, options);
  const changes =
    diff === ""
      ? []
      : clean(diff)
          .replace(/\n$/, "")
          .split("\n")
          .map((text) => paintChange(text, paint));
  return [paint(HEAD_COLOURS[verdict], clean(headOf(judgement))), ...lines, ...changes, ""].join("\n");
}

function paintChange(line: string, paint: Paint): string {
  if (line.startsWith("---") || line.startsWith("+++")) return paint(BOLD, line);
  if (line.startsWith("@@")) return paint(CYAN, line);
  if (line.startsWith("+")) return paint(GREEN, line);
  return line.startsWith("-") ? paint(RED, line) : line;
}

const clean = (text: string): string => text.replace(CONTROLS, "\ufffd");
