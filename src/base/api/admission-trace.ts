import type { Json } from "./object.ts";

/** One field that an admission step changed. */
export interface FieldChange {
  /** A JSON pointer (RFC 6901). */
  readonly path: string;
  /** Omitted if the field did not exist before. */
  readonly old?: Json;
  /** Omitted if the field was removed. */
  readonly new?: Json;
}

/** A subexpression of a CEL expression and its value. */
export interface ExpressionInput {
  readonly expression: string;
  /** Omitted if the field does not exist, cannot be shown as JSON, or must not be shown to the caller. */
  readonly value?: Json;
  /** Why there is no value. */
  readonly error?: string;
}

/** The role of a CEL expression. */
export type ExpressionRole = "matchCondition" | "validation" | "messageExpression" | "auditAnnotation" | "mutation";

/** An expression that was evaluated. */
export interface ExplainedExpression {
  readonly role: ExpressionRole;
  /** The name of a match condition, or the key of an audit annotation. */
  readonly name?: string;
  readonly expression: string;
  readonly result?: Json;
  readonly error?: string;
  readonly inputs: readonly ExpressionInput[];
}

/** A reference to a stored object, by resource as authorizers need it. */
export interface NamedObject {
  readonly group: string;
  readonly resource: string;
  readonly kind: string;
  readonly namespace?: string;
  readonly name: string;
}

/** The outcome of a policy, webhook or function. */
export type TraceOutcome = "skipped" | "allowed" | "changed" | "warned" | "audited" | "denied" | "failed" | "ignored";

/** The outcome of one policy (with one binding and params object), webhook or function. */
export interface TraceNote {
  readonly type: "policy" | "webhook" | "function";
  readonly name: string;
  /** Only for policies. */
  readonly binding?: string;
  readonly params?: NamedObject;
  /** The webhook configuration that contains the webhook, or the function of a module. */
  readonly from?: string;
  readonly outcome: TraceOutcome;
  /** The message of the policy, webhook or function, or the reason why it was not called. */
  readonly message?: string;
  readonly expressions: readonly ExplainedExpression[];
  readonly changes: readonly FieldChange[];
  /** The stored objects that the note reveals, apart from the object in the request. */
  readonly sources: readonly TraceSource[];
}

/** A stored object that a note reveals. */
export interface TraceSource {
  /**
   * The CEL variable that exposes the object. "expressions": the policy or configuration that contains the expressions.
   */
  readonly as: "expressions" | "params" | "oldObject" | "namespaceObject";
  readonly object: NamedObject;
}

/** One call of one admission plugin. */
export interface TraceStep {
  readonly phase: "mutating" | "validating";
  /** 2: mutating admission ran again because the object was changed. */
  readonly round: number;
  readonly plugin: string;
  readonly outcome: "allowed" | "changed" | "denied";
  readonly message?: string;
  readonly changes: readonly FieldChange[];
  readonly warnings: readonly string[];
  readonly notes: readonly TraceNote[];
}

/** The properties of a call that a trace needs besides admission itself. */
export interface TracedCall {
  /** Texts for `Warning` headers. */
  readonly warnings: readonly string[];
  /** Undefined if the caller does not impersonate another user. */
  readonly impersonation: object | undefined;
}

/** Records what admission does with one call. Only in-process calls can have a trace. */
export interface AdmissionTrace {
  /** An admission phase begins. */
  began(phase: TraceStep["phase"]): void;
  /** An admission phase ended without a rejection. */
  ended(phase: TraceStep["phase"]): void;
  /** Runs one plugin and records its changes to `object`. */
  run(
    phase: TraceStep["phase"],
    round: number,
    plugin: string,
    object: Json | undefined,
    work: () => Promise<void>,
  ): Promise<void>;
  /**
   * Records the outcome of a policy, webhook or function within a plugin. `object` is the current object. `place` is
   * the index of the note among the notes of the plugin. If omitted, the note is appended.
   */
  note(note: Omit<TraceNote, "changes">, object: Json | undefined, place?: number): void;
  /** Sets the call that the trace belongs to. */
  follow(call: TracedCall): void;
}
