import type {
  ExplainedExpression,
  NamedObject,
  TraceNote,
  TraceSource,
  TraceStep,
} from "../../../base/api/admission-trace.ts";

/** Whether the caller may read an object. */
export type MayRead = (object: NamedObject) => Promise<boolean>;

/** The visible part of a note. */
export type ShownNote = Omit<TraceNote, "sources">;

/** The visible part of a step. */
export interface ShownStep extends Omit<TraceStep, "notes"> {
  readonly notes: readonly ShownNote[];
}

/**
 * Removes from the steps what the caller may not read. Verdicts, messages of denials, warnings and changes of the
 * object remain, because the user of the request sees them anyway. Expressions and their inputs are shown only if the
 * caller may read the policy or webhook configuration and the stored object that a value comes from.
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
  // Audit annotations are for readers of the audit log, not for the user.
  const isTold = note.outcome === "denied" || note.outcome === "warned" || note.outcome === "failed";
  const { message, ...rest } = note;
  return { ...rest, ...((isTold || note.outcome === "skipped") && message !== undefined && { message }), expressions };
}

function redactExpression(explained: ExplainedExpression, hidden: readonly TraceSource[]): ExplainedExpression {
  const inputs = explained.inputs.map((input) => {
    // Variables may be computed from any object.
    const source = hidden.find(
      ({ as }) => startsWith(input.expression, as) || startsWith(input.expression, "variables"),
    );
    return source ? { expression: input.expression, error: reason(source) } : input;
  });
  const used = inputs.some((input, index) => input !== explained.inputs[index]);
  if (!used || typeof explained.result === "boolean") return { ...explained, inputs };
  const { result: _, error: __, ...rest } = explained;
  return { ...rest, error: "hidden, because an input is hidden", inputs };
}

const startsWith = (expression: string, root: string): boolean =>
  expression === root || [".", "["].includes(expression.startsWith(root) ? (expression[root.length] ?? "") : "");

function reason({ object: { resource, group, namespace, name } }: TraceSource): string {
  const type = group === "" ? resource : `${resource}.${group}`;
  return `hidden: you may not get ${type} ${namespace === undefined ? name : `${namespace}/${name}`}`;
}
