import { groupOf } from "../../base/api/object.ts";
import type { Judgement } from "./judge.ts";
import { printRule, type RefusingRule } from "./rules.ts";

/** Number of objects per verdict. */
export type Tally = Readonly<Record<Judgement["verdict"], number>>;

/** Prints judgements one by one. Each method returns the text to print. */
export interface Reporter {
  begin(): string;
  judgement(judgement: Judgement): string;
  end(tally: Tally): string;
}

/** What text and markdown show. */
export interface ReportOptions {
  /** Shows denied objects only. */
  readonly isQuiet?: boolean | undefined;
  /** Shows the YAML of objects that would be created. Default: one line each. */
  readonly showsCreated?: boolean | undefined;
  /** Uses ANSI colours in text. */
  readonly hasColour?: boolean | undefined;
}

/** Kind, group and name, e.g. "Deployment.apps shop/web". */
export function titleOf({ apiVersion, kind, namespace, name }: Judgement): string {
  const group = groupOf(apiVersion);
  const place = namespace === "" ? name : `${namespace}/${name}`;
  return `${group === "" ? kind : `${kind}.${group}`} ${place}`;
}

/** What would happen to an object. */
export const PHRASES: Readonly<Record<Judgement["verdict"], string>> = {
  created: "would be created",
  changed: "would change",
  unchanged: "would not change",
  refused: "would be denied",
};

/** Follows the title of a denied object. Objects of the first two types are not even sent. */
export function printDenial(rule: RefusingRule): string {
  if (rule.type === "kind") return ": unknown kind (no CRD)";
  return rule.type === "manifest" ? ": invalid manifest" : ` ${PHRASES.refused} by ${printRule(rule)}`;
}

/** The title of an object and what would happen to it. */
export function headOf(judgement: Judgement): string {
  const { verdict, refusal } = judgement;
  return `${titleOf(judgement)}${refusal ? printDenial(refusal.rule) : ` ${PHRASES[verdict]}`}`;
}

/** The summary, e.g. "1 created, 0 changed, 2 unchanged, 0 denied". */
export function printTally({ created, changed, unchanged, refused }: Tally): string {
  return `${created} created, ${changed} changed, ${unchanged} unchanged, ${refused} denied`;
}

/** Whether an object is mentioned: unchanged ones only with warnings, with `isQuiet` only denied ones. */
export function isShown({ verdict, warnings }: Judgement, { isQuiet = false }: ReportOptions): boolean {
  if (isQuiet) return verdict === "refused";
  return verdict !== "unchanged" || warnings.length > 0;
}

/** The diff of an object. Empty for created objects, unless they are shown. */
export function shownDiff({ verdict, diff }: Judgement, { showsCreated = false }: ReportOptions): string {
  return verdict === "created" && !showsCreated ? "" : diff;
}

/** Problems of single fields, if there are several. A single one is in the message already. */
export function shownCauses({ refusal }: Judgement): string[] {
  const causes = refusal?.causes ?? [];
  if (causes.length < 2) return [];
  return causes.map(({ field, message }) => `${field === "" ? "" : `${field}: `}${message}`);
}
