import type { AdmissionTrace, TracedCall, TraceNote, TraceStep } from "../../../base/api/admission-trace.ts";
import type { Json } from "../../../base/api/object.ts";
import { cloneJson } from "../../../base/util/clone.ts";
import { fieldChanges } from "./field-changes.ts";

/** Records what admission does with one request, step by step. */
export class Trace implements AdmissionTrace {
  readonly steps: TraceStep[] = [];
  /** The phase of admission that started last. Undefined before admission. */
  phase: TraceStep["phase"] | undefined;
  /** Whether that phase has ended without a rejection. */
  isPassed = false;
  #call: TracedCall = { warnings: [], impersonation: undefined };
  #notes: { readonly note: TraceNote; readonly place: number }[] = [];
  /** The object when the last note was added. */
  #latest: Json | undefined;

  /** All warnings of the request so far. */
  get warnings(): readonly string[] {
    return this.#call.warnings;
  }

  /** Whether impersonation has taken place. */
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
