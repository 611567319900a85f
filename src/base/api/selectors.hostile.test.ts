import { suite, test } from "node:test";
import { StepCounter } from "../../../test/support/steps.ts";
import { matchesFields, parseFieldSelector } from "./field-selector.ts";
import { type LabelRequirement, matchesLabels, parseLabelSelector } from "./label-selector.ts";

const counter = new StepCounter();

/** How each operator is written, with a number. A new operator needs a row. */
const TERMS: Readonly<Record<LabelRequirement["operator"], (at: number) => string>> = {
  "=": (at) => `k${at}=v`,
  "==": (at) => `k${at}==v`,
  "!=": (at) => `k${at}!=w`,
  in: (at) => `k${at} in (v,w)`,
  notin: (at) => `k${at} notin (w)`,
  exists: (at) => `k${at}`,
  "!": (at) => `!l${at}`,
  gt: (at) => `n${at}>0`,
  lt: (at) => `n${at}<2`,
};

const times = <T>(count: number, make: (index: number) => T): T[] => Array.from({ length: count }, (_, at) => make(at));
const labelsOf = (size: number) =>
  Object.fromEntries(times(size, (at) => [[`k${at}`, "v"] as const, [`n${at}`, "1"] as const]).flat());

suite("a selector takes linear time:", () => {
  for (const [operator, term] of Object.entries(TERMS)) {
    test(operator, () => {
      counter.assertLinear((size) => {
        const selector = parseLabelSelector(times(size, term).join());
        const labels = labelsOf(size);
        for (let object = 0; object < 3; object++) if (!matchesLabels(selector, labels)) throw new Error("no match");
      }, 500);
    });
  }

  test("a set of many values", () => {
    counter.assertLinear((size) => {
      const selector = parseLabelSelector(`k0 in (${times(size, (at) => `v${at}`).join()})`);
      for (let object = 0; object < size; object++) matchesLabels(selector, { k0: "x" });
    }, 500);
  });

  test("fields", () => {
    counter.assertLinear((size) => {
      const selector = parseFieldSelector(times(size, (at) => `f${at}!=x`).join());
      matchesFields(selector, () => "y");
    }, 500);
  });
});
