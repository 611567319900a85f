import type { ExplainedExpression, FieldChange, NamedObject, TraceOutcome } from "../../../base/api/admission-trace.ts";
import type { Json } from "../../../base/api/object.ts";
import { printJson } from "../../../data/encoding/json/json.ts";
import type { ShownNote, ShownStep } from "./redact.ts";

/** What admission did with a write, and the result. */
export interface AdmissionExplanation {
  /** `alice creates pods dev/web`. */
  readonly request: string;
  readonly verdict: "allowed" | "refused";
  readonly code: number;
  /** The message of the Status, if denied. */
  readonly message?: string;
  /** What denied the write: a plugin, or a stage before or after admission. */
  readonly refusedBy?: string;
  readonly warnings: readonly string[];
  readonly steps: readonly ShownStep[];
}

/** Formats an explanation for people: the steps that had an effect, in order, and the verdict. */
export function printAdmission({ request, steps, ...end }: AdmissionExplanation): string {
  const told = steps.filter(
    ({ outcome, notes, warnings }) => outcome !== "allowed" || notes.length + warnings.length > 0,
  );
  const heard = new Set(told.map(({ plugin }) => plugin));
  const silent = new Set(steps.map(({ plugin }) => plugin).filter((plugin) => !heard.has(plugin)));
  const lines = [`${request} (dry run)`, "", ...told.flatMap((step, index) => printStep(step, index + 1))];
  if (told.length > 0) lines.push("");
  if (silent.size > 0) lines.push(`No effect: ${[...silent].join(", ")}.`);
  if (end.verdict === "allowed") lines.push(`Allowed: ${end.code}.`);
  else lines.push(`Denied by ${end.refusedBy}: ${end.code} ${end.message}`);
  return `${lines.join("\n")}\n`;
}

function printStep({ phase, round, plugin, outcome, message, changes, warnings, notes }: ShownStep, number: number) {
  const again = round > 1 ? ", round 2" : "";
  const isNoted = notes.some((note) => note.changes.length > 0);
  const isTold = message === undefined || notes.some(({ outcome: one }) => REFUSALS.has(one));
  return [
    `${number}. ${plugin} (${phase}${again}): ${OUTCOMES[outcome]}`,
    ...(isNoted ? [] : changes.map((change) => `     ${printChange(change)}`)),
    ...notes.flatMap(printNote),
    ...(isTold ? [] : [`     ${message}`]),
    ...warnings.map((text) => `     warning: ${text}`),
  ];
}

const OUTCOMES: Readonly<Record<TraceOutcome, string>> = {
  skipped: "skipped",
  allowed: "allowed",
  changed: "changed the object",
  warned: "warned",
  audited: "audited",
  denied: "denied",
  failed: "failed",
  ignored: "failed, ignored by failurePolicy",
};
const REFUSALS: ReadonlySet<TraceOutcome> = new Set(["denied", "failed"]);

function printNote({ type, name, binding, params, from, outcome, message, expressions, changes }: ShownNote): string[] {
  const by = [
    `${type} ${name}`,
    ...(binding === undefined ? [] : [`binding ${binding}`]),
    ...(params ? [`params ${printObject(params)}`] : []),
    ...(from === undefined ? [] : [type === "webhook" ? `of ${from}` : from]),
  ];
  const isTold = expressions.some(({ role, result }) => role === "messageExpression" && result === message);
  return [
    `   - ${by.join(", ")}: ${OUTCOMES[outcome]}`,
    ...expressions.flatMap(printExpression),
    ...changes.map((change) => `       ${printChange(change)}`),
    ...(message === undefined || isTold ? [] : [`       ${message}`]),
  ];
}

const printObject = ({ kind, namespace, name }: NamedObject): string =>
  `${kind} ${namespace === undefined ? name : `${namespace}/${name}`}`;

const ROLES: Readonly<Record<ExplainedExpression["role"], string>> = {
  matchCondition: "match condition",
  validation: "validation",
  messageExpression: "message",
  auditAnnotation: "audit annotation",
  mutation: "mutation",
};

function printExpression({ role, name, expression, result, error, inputs }: ExplainedExpression): string[] {
  const title = name === undefined ? ROLES[role] : `${ROLES[role]} ${name}`;
  const [first = "", ...rest] = expression.split("\n");
  // The result of a mutation is shown by its changes.
  const yields = role === "mutation" && error === undefined ? "" : ` → ${error === undefined ? show(result) : error}`;
  const lines = [`       ${title}: ${first}`, ...rest.map((line) => `         ${line}`)];
  lines[lines.length - 1] += yields;
  for (const { expression: text, value, error: missing } of inputs) {
    lines.push(`         ${text} = ${missing === undefined ? show(value) : `(${missing})`}`);
  }
  return lines;
}

function printChange(change: FieldChange): string {
  const { path } = change;
  return `${path === "" ? "/" : path}: ${side(change.old)} → ${side(change.new)}`;
}

const side = (value: Json | undefined): string => (value === undefined ? "(none)" : show(value));

const MAX_SHOWN = 300;

function show(value: Json | undefined): string {
  const text = value === undefined ? "(none)" : printJson(value, false).trimEnd();
  return text.length <= MAX_SHOWN ? text : `${text.slice(0, MAX_SHOWN)}… (${text.length} characters)`;
}
