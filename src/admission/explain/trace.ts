import type { AdmissionTrace, TracedCall, TraceNote, TraceStep } from "../../api/admission-trace.ts";
import type { Json } from "../../api/object.ts";
import { cloneJson } from "../../lib/clone.ts";
import { fieldChanges } from "./field-changes.ts";

/** What admission did with one call, step by step. */
export class Trace implements AdmissionTrace {
  readonly steps: TraceStep[] = [];
  /** The pass of admission that was begun last; undefined: none was. */
  phase: TraceStep["phase"] | undefined;
  /** Whether that pass has come to its end without a refusal. */
  isPassed = false;
  #call: TracedCall = { warnings: [], impersonation: undefined };
  #notes: { readonly note: TraceNote; readonly place: number }[] = [];
  /** What the object was when the last note was made. */
  #latest: Json | undefined;

  /** All warnings of the call so far. */
  get warnings(): readonly string[] {
    return this.#call.warnings;
  }

  /** Whether the caller is taken for somebody else by now. */
  get isImpersonated(): boolean {
    return this.#call.impersonation !== undefined;
  }

  follow(call: TracedCall): void {
    this.#call = call;
  }

  began(phase: TraceStep["phase"]): void {
    this.phase = phase;
    this.isPassed = false;
  }

  ended(): void {
    this.isPassed = true;
  }

  async run(
    phase: TraceStep["phase"],
    round: number,
    plugin: string,
    object: Json | undefined,
    work: () => Promise<void>,
  ): Promise<void> {
    const before = object && cloneJson(object);
    const warned = this.warnings.length;
    this.#latest = before;
    this.#notes = [];
    const ended = (refusal?: string): void => {
      const changes = phase === "mutating" ? fieldChanges(before, object && cloneJson(object)) : [];
      const outcome = refusal !== undefined ? "denied" : changes.length > 0 ? "changed" : "allowed";
      this.steps.push({
        ...{ phase, round, plugin, outcome },
        ...(refusal !== undefined && { message: refusal }),
        ...{ changes, warnings: this.warnings.slice(warned), notes: inPlace(this.#notes) },
      });
    };
    try {
      await work();
    } catch (error) {
      ended(error instanceof Error ? error.message : String(error));
      throw error;
    }
    ended();
  }

  note(note: Omit<TraceNote, "changes">, object: Json | undefined, place = this.#notes.length): void {
    const now = object && cloneJson(object);
    const changes = fieldChanges(this.#latest, now);
    this.#latest = now;
    const outcome = changes.length > 0 && note.outcome === "allowed" ? "changed" : note.outcome;
    const isIdle = outcome === "changed" && changes.length === 0;
    this.#notes.push({ place, note: { ...note, outcome: isIdle ? "allowed" : outcome, changes } });
  }
}

const inPlace = (notes: readonly { readonly note: TraceNote; readonly place: number }[]): TraceNote[] =>
  [...notes].sort((a, b) => a.place - b.place).map(({ note }) => note);
