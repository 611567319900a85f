import assert from "node:assert/strict";
import { suite, test } from "node:test";
import { STEPS_PER_UNIT, StepCounter, unitsOf } from "../../../test/support/steps.ts";
import { Meter } from "../../base/util/meter.ts";
import { callText, casesOf, compiled, evaluate, functions, macros, macroText } from "./charges.suite.ts";
import type { Program } from "./program.ts";
import type { FunctionDeclaration, Overload } from "./standard/library.ts";
import { dynType, listType, mapType, type Type } from "./values/types.ts";
import type { Value } from "./values/value.ts";

const counter = new StepCounter();

/** Four times this size must be charged for the steps that it takes more, apart from a few per evaluation. */
const SIZE = 250;
const FREE_STEPS = 300;

const UNMETERED = () => new Meter(Number.POSITIVE_INFINITY);

/** Fails unless each case is charged for its steps. Cases that are charged for the steps of all need not be counted. */
function assertCharged(made: Program, types: readonly Type[]): void {
  const cases = casesOf(types).map(({ name, args }) => {
    const [small, large] = [args(SIZE), args(4 * SIZE)];
    const units = (values: readonly Value[]) => unitsOf((meter) => void evaluate(made, values, meter));
    const steps = (values: readonly Value[]) => counter.count(() => void evaluate(made, values, UNMETERED()));
    return { name, large, units: units(large) - units(small), steps: () => steps(large) - steps(small) };
  });
  const all = counter.count(() => {
    for (const { large } of cases) evaluate(made, large, UNMETERED());
  });
  for (const { name, units, steps } of cases) {
    if (all <= STEPS_PER_UNIT * units + FREE_STEPS) continue;
    const more = steps();
    assert.ok(more <= STEPS_PER_UNIT * units + FREE_STEPS, `${name}: ${more} more steps, but ${units} more units`);
  }
}

/** The types of variables: those of the overload, and dyn, with which costs are chosen at run time. */
function* typings({ overloads }: FunctionDeclaration, { args }: Overload): Generator<readonly Type[]> {
  yield args.map((type) => (type.isGeneric ? dynType : type));
  if (overloads.length > 1) yield args.map(() => dynType);
}

suite("the meter is charged for the steps of", () => {
  for (const declared of functions) {
    test(declared.name, () => {
      for (const overload of declared.overloads) {
        const text = callText(declared, overload);
        if (text === undefined) continue;
        for (const types of typings(declared, overload)) assertCharged(compiled(text, types), overload.args);
      }
    });
  }
  for (const macro of macros) {
    test(`the macro ${macro.name} with ${macro.args} arguments`, () => {
      for (const type of [listType(dynType), mapType(dynType, dynType)])
        assertCharged(compiled(macroText(macro), [dynType]), [type]);
    });
  }
});
