import type { FunctionName, FunctionOutcome, SentCall } from "../../../admission/functions/module.ts";
import type { Rule } from "../../../types/admission-registration.ts";

/** What a thread of functions is told. */
export interface ToFunctions {
  readonly id: number;
  readonly name: FunctionName;
  readonly call: SentCall;
}

/** What it tells: what the module has, once it is loaded, and what came of calls. */
export type FromFunctions =
  | {
      readonly type: "loaded";
      readonly rules: readonly Rule[] | undefined;
      readonly functions: readonly FunctionName[];
    }
  | { readonly type: "broken"; readonly text: string }
  | { readonly type: "done"; readonly id: number; readonly outcome: FunctionOutcome }
  | { readonly type: "failed"; readonly id: number; readonly text: string };
