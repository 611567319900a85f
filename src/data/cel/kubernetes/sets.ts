import { sizeOf } from "../cost/runtime.ts";
import { type CostNode, fixed, plus, scale, times } from "../cost/sizes.ts";
import type { FunctionDeclaration, Library } from "../standard/library.ts";
import { contains } from "../values/equality.ts";
import { boolType, listType, paramType } from "../values/types.ts";
import type { CelError, ListValue, Value } from "../values/value.ts";
import { global } from "./declare.ts";

function containsAll(list: ListValue, part: ListValue): boolean | CelError {
  for (let i = 0; i < part.size; i++) {
    const found = contains(list, part.at(i));
    if (found !== true) return found;
  }
  return true;
}

function intersects(a: ListValue, b: ListValue): boolean {
  for (let i = 0; i < a.size; i++) if (contains(b, a.at(i)) === true) return true;
  return false;
}

function equivalent(a: ListValue, b: ListValue): boolean | CelError {
  const first = containsAll(a, b);
  return first === true ? containsAll(b, a) : first;
}

const list = listType(paramType("T"));

const declareSets = (
  name: string,
  factor: number,
  call: (a: ListValue, b: ListValue) => boolean | CelError,
): FunctionDeclaration => ({
  name: `sets.${name}`,
  overloads: [
    {
      ...global(`list_sets_${name}_list`, [list, list], boolType, call),
      cost: ([a, b]) => 1 + Math.floor(sizeOf(a as Value) * sizeOf(b as Value) * factor),
      estimate(estimator, _, args) {
        const [a, b] = args as [CostNode, CostNode];
        return { cost: plus(scale(times(estimator.sizeOf(a), estimator.sizeOf(b)), factor), fixed(1)) };
      },
    },
  ],
});

/** cel.lib.ext.sets: sets.contains, sets.equivalent, sets.intersects. */
export const setsLibrary: Library = {
  name: "cel.lib.ext.sets",
  functions: [
    declareSets("contains", 1, containsAll),
    declareSets("equivalent", 2, equivalent),
    declareSets("intersects", 1, intersects),
  ],
};
