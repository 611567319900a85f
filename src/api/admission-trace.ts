import type { Json } from "./object.ts";

/** One field that a step of admission has changed. */
export interface FieldChange {
  /** A JSON pointer (RFC 6901). */
  readonly path: string;
  /** Absent: there was none. */
  readonly old?: Json;
  /** Absent: it was removed. */
  readonly new?: Json;
}

/** What an expression was given: a part of it, and what that stands for. */
export interface ExpressionInput {
  readonly expression: string;
  /** Absent: there is no such field, it cannot be shown as JSON, or whoever asks may not see it. */
  readonly value?: Json;
  /** Why there is no value. */
  readonly error?: string;
}

/** What an expression is for. */
export type ExpressionRole = "matchCondition" | "validation" | "messageExpression" | "auditAnnotation" | "mutation";

/** An expression that was evaluated. */
export interface ExplainedExpression {
  readonly role: ExpressionRole;
  /** Of a match condition, or the key of an audit annotation. */
  readonly name?: string;
  readonly expression: string;
  readonly result?: Json;
  readonly error?: string;
  readonly inputs: readonly ExpressionInput[];
}

/** A stored object, as one names it to an authorizer. */
export interface NamedObject {
  readonly group: string;
  readonly resource: string;
  readonly kind: string;
  readonly namespace?: string;
  readonly name: string;
}

/** What became of a policy, webhook or function on the way. */
export type TraceOutcome = "skipped" | "allowed" | "changed" | "warned" | "audited" | "denied" | "failed" | "ignored";

/** What a policy with one of its bindings and params, a webhook or a function has said. */
export interface TraceNote {
  readonly type: "policy" | "webhook" | "function";
  readonly name: string;
  /** Of a policy. */
  readonly binding?: string;
  readonly params?: NamedObject;
  /** The configuration that a webhook stands in, or the function of a module. */
  readonly from?: string;
  readonly outcome: TraceOutcome;
  /** In the words of the policy, webhook or function; or why it was not asked. */
  readonly message?: string;
  readonly expressions: readonly ExplainedExpression[];
  readonly changes: readonly FieldChange[];
  /** The stored objects that it tells of, besides the object that was sent. */
  readonly sources: readonly TraceSource[];
}

/** A stored object that a note tells of. */
export interface TraceSource {
  /** The variable of expressions that it is seen by; "expressions": the policy or configuration that these stand in. */
  readonly as: "expressions" | "params" | "oldObject" | "namespaceObject";
  readonly object: NamedObject;
}

/** One plugin, asked once. */
export interface TraceStep {
  readonly phase: "mutating" | "validating";
  /** 2: mutating admission was run again, because somebody changed the object. */
  readonly round: number;
  readonly plugin: string;
  readonly outcome: "allowed" | "changed" | "denied";
  readonly message?: string;
  readonly changes: readonly FieldChange[];
  readonly warnings: readonly string[];
  readonly notes: readonly TraceNote[];
}

/** What is told of a call besides what admission does with it. */
export interface TracedCall {
  /** Texts for `Warning` headers. */
  readonly warnings: readonly string[];
  /** Undefined until the caller is taken for somebody else. */
  readonly impersonation: object | undefined;
}

/** Hears what admission does with one call. Only calls from within the process can have one. */
export interface AdmissionTrace {
  /** A pass of admission begins. */
  began(phase: TraceStep["phase"]): void;
  /** A pass of admission has come to its end without a refusal. */
  ended(phase: TraceStep["phase"]): void;
  /** Runs one plugin and remembers what it did to `object`. */
  run(
    phase: TraceStep["phase"],
    round: number,
    plugin: string,
    object: Json | undefined,
    work: () => Promise<void>,
  ): Promise<void>;
  /**
   * Within a plugin: what a policy, webhook or function has said. `object` is what the object is now, `place` where the
   * note stands among those of the plugin; without it, behind those before it.
   */
  note(note: Omit<TraceNote, "changes">, object: Json | undefined, place?: number): void;
  /** The call that it hears of. */
  follow(call: TracedCall): void;
}
