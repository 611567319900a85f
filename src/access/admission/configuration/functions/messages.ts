import type { Rule } from "../../../../kinds/types/admission-registration.ts";
import type { FunctionName, FunctionOutcome, SentCall } from "../../functions/module.ts";

/** Message to a thread: call a function. */
export interface ToFunctions {
  readonly id: number;
  readonly name: FunctionName;
  readonly call: SentCall;
}

/** Message from a thread: the loaded module, or the result of a call. */
export type FromFunctions =
  | {
      readonly type: "loaded";
      readonly rules: readonly Rule[] | undefined;
      readonly functions: readonly FunctionName[];
    }
  | { readonly type: "broken"; readonly text: string }
  | { readonly type: "done"; readonly id: number; readonly outcome: FunctionOutcome }
  | { readonly type: "failed"; readonly id: number; readonly text: string };
