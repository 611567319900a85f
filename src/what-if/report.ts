import { groupOf } from "../api/object.ts";
import { getMember } from "../lib/members.ts";
import type { Judgement } from "./judge.ts";
import { printRule } from "./rules.ts";

/** How many objects there are of each verdict. */
export type Tally = Readonly<Record<Judgement["verdict"], number>>;

/** Prints judgements as they come; each text goes out as it is. */
export interface Reporter {
  begin(): string;
  judgement(judgement: Judgement): string;
  end(tally: Tally): string;
}

/** The forms that judgements are printed in. */
export const OUTPUTS = ["text", "json", "junit"] as const;

/** One of them. */
export type Output = (typeof OUTPUTS)[number];

/** The printer of a form. */
export function reporterFor(output: Output): Reporter {
  return REPORTERS[output]();
}

const REPORTERS: Readonly<Record<Output, () => Reporter>> = {
  text: () => ({ begin: () => "", judgement: printText, end: printTally }),
  json: jsonReporter,
  junit: junitReporter,
};

/** Kind, group and name, e.g. "Deployment.apps shop/web". */
export function titleOf({ apiVersion, kind, namespace, name }: Judgement): string {
  const group = groupOf(apiVersion);
  const place = namespace === "" ? name : `${namespace}/${name}`;
  return `${group === "" ? kind : `${kind}.${group}`} ${place}`;
}

function printText(judgement: Judgement): string {
  const { verdict, file, line, diff, refusal, warnings } = judgement;
  const warned = warnings.map((warning) => `  warning: ${warning}\n`).join("");
  if (verdict === "unchanged") return warned === "" ? "" : `${titleOf(judgement)} stays as it is\n${warned}`;
  const head = `${titleOf(judgement)} ${PHRASES[verdict]}`;
  if (!refusal) return `${head}\n${warned}${diff}`;
  const causes = refusal.causes.length > 1 ? refusal.causes : [];
  const details = causes.map(({ field, message }) => `    ${field === "" ? "" : `${field}: `}${message}\n`);
  const where = `  in ${file}, line ${line}\n`;
  return `${head} by ${printRule(refusal.rule)}\n${where}  ${refusal.message}\n${details.join("")}${warned}`;
}

const PHRASES: Readonly<Record<Judgement["verdict"], string>> = {
  created: "would be created",
  changed: "would change",
  unchanged: "stays as it is",
  refused: "would be refused",
};

function printTally({ created, changed, unchanged, refused }: Tally): string {
  return `${created} created, ${changed} changed, ${unchanged} unchanged, ${refused} refused\n`;
}

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

/** What may stand in XML 1.0. */
const NO_XML = /[^\t\n\r\u0020-\ud7ff\ue000-\ufffd\u{10000}-\u{10ffff}]/gu;
const ENTITIES: Readonly<Record<string, string>> = { "&": "&amp;", "<": "&lt;", ">": "&gt;", '"': "&quot;" };

function escapeXml(text: string): string {
  return text.replace(NO_XML, "\ufffd").replace(/[&<>"]/g, (character) => getMember(ENTITIES, character) ?? character);
}

/** A test case for every object, which fails when it would be refused. Counts come first, so that nothing is told before the end. */
function junitReporter(): Reporter {
  const cases: string[] = [];
  return {
    begin: () => "",
    judgement(judgement) {
      const { file, line, verdict, diff, refusal, warnings } = judgement;
      const place = `classname="${escapeXml(file)}" file="${escapeXml(file)}" line="${line}"`;
      const text = [PHRASES[verdict], ...warnings.map((warning) => `warning: ${warning}`), diff].join("\n");
      const failure = refusal
        ? `<failure type="${escapeXml(refusal.rule.type)}" message="${escapeXml(refusal.message)}">${escapeXml(printRule(refusal.rule))}</failure>`
        : "";
      const out = `<system-out>${escapeXml(text)}</system-out>`;
      cases.push(`    <testcase name="${escapeXml(titleOf(judgement))}" ${place}>${failure}${out}</testcase>\n`);
      return "";
    },
    end({ created, changed, unchanged, refused }) {
      const count = created + changed + unchanged + refused;
      const totals = `tests="${count}" failures="${refused}" errors="0" skipped="0"`;
      const suite = `  <testsuite name="binnacle diff" ${totals}>\n${cases.join("")}  </testsuite>\n`;
      return `<?xml version="1.0" encoding="UTF-8"?>\n<testsuites ${totals}>\n${suite}</testsuites>\n`;
    },
  };
}
