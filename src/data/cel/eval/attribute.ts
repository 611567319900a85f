import type { Value } from "../values/value.ts";
import { CelError, noSuchOverload } from "../values/value.ts";
import type { Run } from "./frame.ts";
import { follow, type Qualifier } from "./qualifier.ts";

/**
 * cel-go's Attribute: a variable, the result of an expression, or a conditional, followed by qualifiers. Costs depend
 * on it: an attribute costs 1 as a whole, unless it is a branch of a conditional or an index.
 */
export interface Attribute {
  readonly qualifiers: readonly Qualifier[];
  /** Evaluates it with these qualifiers, without the cost of the attribute as a whole. */
  resolve(qualifiers: readonly Qualifier[]): Run;
  /** 1, or 0 for conditionals and presence tests. */
  readonly cost: 0 | 1;
}

/** A planned expression. */
export interface Plan {
  readonly run: Run;
  /** The value, if it is known without evaluation. */
  readonly constant?: Value;
  readonly attribute?: Attribute;
}

/** The plan of a constant. */
export const constantPlan = (value: Value): Plan => ({ run: () => value, constant: value });

/** The plan of an attribute. */
export function attributePlan(attribute: Attribute): Plan {
  const resolve = attribute.resolve(attribute.qualifiers);
  if (attribute.cost === 0) return { run: resolve, attribute };
  const run: Run = (frame) => {
    const value = resolve(frame);
    frame.charge(1);
    return value;
  };
  return { run, attribute };
}

/** An attribute without qualifiers. */
export const attributeOf = (base: Run): Attribute => ({
  qualifiers: [],
  cost: 1,
  resolve: (qualifiers) => follow(base, qualifiers),
});

/** A plan with one more qualifier. */
export function qualify(operand: Plan, qualifier: Qualifier): Plan {
  const attribute = operand.attribute ?? attributeOf(operand.run);
  return attributePlan({
    ...attribute,
    qualifiers: [...attribute.qualifiers, qualifier],
    cost: qualifier.isTest ? 0 : attribute.cost,
  });
}

/** Evaluates an index, where an attribute does not cost 1 as a whole. */
export const resolveIndex = (index: Plan): Run =>
  index.attribute === undefined ? index.run : index.attribute.resolve(index.attribute.qualifiers);

/** condition ? whenTrue : whenFalse. Subsequent qualifiers are added to both branches. */
export function conditionalPlan(condition: Plan, whenTrue: Plan, whenFalse: Plan): Plan {
  const branch = (plan: Plan, qualifiers: readonly Qualifier[]): Run => {
    const { attribute } = plan;
    if (attribute === undefined) return follow(plan.run, qualifiers);
    return attribute.resolve([...attribute.qualifiers, ...qualifiers]);
  };
  return attributePlan({
    qualifiers: [],
    cost: 0,
    resolve: (qualifiers) => {
      const first = branch(whenTrue, qualifiers);
      const second = branch(whenFalse, qualifiers);
      return (frame) => {
        const value = condition.run(frame);
        if (value === true) return first(frame);
        if (value === false) return second(frame);
        return value instanceof CelError ? value : noSuchOverload(value);
      };
    },
  });
}
