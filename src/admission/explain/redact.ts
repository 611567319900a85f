import type { ExplainedExpression, NamedObject, TraceNote, TraceSource, TraceStep } from "../../api/admission-trace.ts";

/** Whether somebody may read an object. */
export type MayRead = (object: NamedObject) => Promise<boolean>;

/** What somebody is shown of a policy, webhook or function. */
export type ShownNote = Omit<TraceNote, "sources">;

/** What somebody is shown of a step. */
export interface ShownStep extends Omit<TraceStep, "notes"> {
  readonly notes: readonly ShownNote[];
}

/**
 * The steps as somebody may see them. What the user of the request is told anyway is left: verdicts, messages of refusals
 * and warnings, changes of the object. Expressions and what they were given are shown only to those who may read the
 * policy or configuration, and the stored object that a value comes from.
 */
export async function redact(steps: readonly TraceStep[], mayRead: MayRead): Promise<ShownStep[]> {
  const known = new Map<string, Promise<boolean>>();
  const asked: MayRead = (object) => {
    const key = JSON.stringify(object);
    const answer = known.get(key) ?? mayRead(object);
    known.set(key, answer);
    return answer;
  };
  const redacted: ShownStep[] = [];
  for (const step of steps) {
    const notes: ShownNote[] = [];
    for (const note of step.notes) notes.push(await redactNote(note, asked));
    redacted.push({ ...step, notes });
  }
  return redacted;
}

async function redactNote({ sources, ...note }: TraceNote, mayRead: MayRead): Promise<ShownNote> {
  const hidden: TraceSource[] = [];
  for (const source of sources) if (!(await mayRead(source.object))) hidden.push(source);
  if (hidden.length === 0) return note;
  const expressions = hidden.some(({ as }) => as === "expressions")
    ? []
    : note.expressions.map((one) => redactExpression(one, hidden));
  // An audit annotation is for those who read the audit log, not for the user.
  const isTold = note.outcome === "denied" || note.outcome === "warned" || note.outcome === "failed";
  const { message, ...rest } = note;
  return { ...rest, ...((isTold || note.outcome === "skipped") && message !== undefined && { message }), expressions };
}

function redactExpression(explained: ExplainedExpression, hidden: readonly TraceSource[]): ExplainedExpression {
  const inputs = explained.inputs.map((input) => {
    // Variables may be made of anything.
    const source = hidden.find(
      ({ as }) => startsWith(input.expression, as) || startsWith(input.expression, "variables"),
    );
    return source ? { expression: input.expression, error: reason(source) } : input;
  });
  const used = inputs.some((input, index) => input !== explained.inputs[index]);
  if (!used || typeof explained.result === "boolean") return { ...explained, inputs };
  const { result: _, error: __, ...rest } = explained;
  return { ...rest, error: "hidden, as its inputs are", inputs };
}

const startsWith = (expression: string, root: string): boolean =>
  expression === root || [".", "["].includes(expression.startsWith(root) ? (expression[root.length] ?? "") : "");

function reason({ object: { resource, group, namespace, name } }: TraceSource): string {
  const type = group === "" ? resource : `${resource}.${group}`;
  return `hidden: you may not get ${type} ${namespace === undefined ? name : `${namespace}/${name}`}`;
}
