import type { JsonObject } from "../../../src/base/api/object.ts";
import { storedExpressions } from "../../../src/data/cel/kubernetes/environment.ts";
import { CelError, NONE, type Value } from "../../../src/data/cel/values/value.ts";
import type { ValidationRule } from "../../../src/data/schema/schema.ts";
import { structuralSchema } from "../../../src/data/schema/structural-schema.ts";
import { compileRules } from "../../../src/resources/validation-rules/compile-rules.ts";
import { declaredType } from "../../../src/resources/validation-rules/declared-type.ts";
import { celValue } from "../../../src/resources/validation-rules/values.ts";

/** What all rules of an object may cost together, and one of them. */
const BUDGET = 10_000_000;
const CALL_LIMIT = 1_000_000;
/** Every ten characters of a text cost one for every ten characters of what is looked for in it. */
const COARSE = 4_000;
const FINE = 200;
const COARSE_RULES = 11;

/**
 * What rules cost shows only when they are out of budget. Rules after all others, whose cost the lengths of three texts set,
 * use up what is left of it: to the last unit, and then by one too many.
 */
export const FILLER_PROPERTIES: JsonObject = {
  coarse: { type: "string", maxLength: 24_000 },
  coarseNeedle: { type: "string", enum: ["y".repeat(COARSE)] },
  fine: { type: "string", maxLength: 6_000 },
  fineNeedle: { type: "string", enum: ["y".repeat(FINE)] },
  single: { type: "string", maxLength: 1_000 },
};

const filler = (text: string, needle: string) => ({ rule: `!has(self.${text}) || !self.${text}.contains(${needle})` });

/** The rules that use up the budget. */
export const FILLER_RULES: readonly JsonObject[] = [
  ...Array.from({ length: COARSE_RULES }, () => filler("coarse", "self.coarseNeedle")),
  filler("fine", "self.fineNeedle"),
  filler("single", "'y'"),
];

/** Tells what the rules of a schema cost when an object with this spec is created; undefined if one costs too much. */
export type CostOfSpec = (spec: JsonObject) => number | undefined;

/** What the given rules, and those that use up the budget, cost. */
export function costMeter(specSchema: JsonObject, rules: readonly JsonObject[]): CostOfSpec {
  const schema = structuralSchema(specSchema);
  const declared = declaredType(schema, false);
  const given = [...rules, ...FILLER_RULES] as unknown as ValidationRule[];
  const compiled = declared
    ? compileRules(given, declared, { rule: () => storedExpressions, message: () => storedExpressions })
    : [];
  return (spec) => {
    const self = celValue(spec, schema);
    let sum = 0;
    for (const { rule, program, message, usesOldSelf } of compiled) {
      const isOptional = rule.optionalOldSelf === true;
      if (program === undefined || (usesOldSelf && !isOptional)) continue;
      const oldSelf = isOptional ? NONE : undefined;
      const activation = (old: Value | undefined) => (name: string) =>
        name === "self" ? self : name === "oldSelf" ? old : undefined;
      const result = program.evaluate(activation(oldSelf), CALL_LIMIT);
      if (result.isCostExceeded) return undefined;
      sum += result.cost;
      if (result.value instanceof CelError || result.value === true || message === undefined) continue;
      const told = message.evaluate(activation(undefined), CALL_LIMIT);
      if (told.isCostExceeded) return undefined;
      sum += told.cost;
    }
    return sum;
  };
}

/** The texts that use up the budget, given a way to tell what a spec costs; undefined if that cannot be. */
export function fillersFor(spec: JsonObject, costOfSpec: CostOfSpec): JsonObject[] | undefined {
  const lengths = { coarse: 0, fine: 0, single: 0 };
  const fill = () => ({
    ...spec,
    coarse: "x".repeat(lengths.coarse * 10),
    coarseNeedle: "y".repeat(COARSE),
    fine: "x".repeat(lengths.fine * 10),
    fineNeedle: "y".repeat(FINE),
    single: "x".repeat(lengths.single * 10),
  });
  const steps = { coarse: (COARSE / 10) * COARSE_RULES, fine: FINE / 10, single: 1 };
  for (const name of ["coarse", "fine", "single"] as const) {
    const cost = costOfSpec(fill());
    if (cost === undefined || cost > BUDGET) return undefined;
    lengths[name] = Math.floor((BUDGET - cost) / steps[name]);
  }
  if (costOfSpec(fill()) !== BUDGET) return undefined;
  const exact = fill();
  lengths.single += 1;
  return [exact, fill()];
}
