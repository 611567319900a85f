import { getMember } from "../../base/util/members.ts";
import { PHRASES, type Reporter, titleOf } from "./report-words.ts";
import { printRule } from "./rules.ts";

/** Characters that XML 1.0 does not allow. */
const NO_XML = /[^\t\n\r\u0020-\ud7ff\ue000-\ufffd\u{10000}-\u{10ffff}]/gu;
const ENTITIES: Readonly<Record<string, string>> = { "&": "&amp;", "<": "&lt;", ">": "&gt;", '"': "&quot;" };

function escapeXml(text: string): string {
  return text.replace(NO_XML, "\ufffd").replace(/[&<>"]/g, (character) => getMember(ENTITIES, character) ?? character);
}

/** One test case per object, which fails if the object would be denied. The counts come first, so everything is printed at the end. */
export function junitReporter(): Reporter {
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
