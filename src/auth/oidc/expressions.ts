import type { Json, JsonObject } from "../../api/object.ts";

/** An expression that has been understood. */
export interface CompiledExpression {
  /** Throws an Error when it cannot be evaluated. */
  evaluate(variables: JsonObject): Json;
}

/** Understands expressions over the variable `claims`, or over `user`. Throws an Error that says what is wrong. */
export type CompileExpression = (expression: string, variable: "claims" | "user") => CompiledExpression;

/** Refuses every expression: the Common Expression Language is not there yet. */
export const noExpressions: CompileExpression = () => {
  throw new Error("expressions in the Common Expression Language (CEL) are not supported yet");
};
