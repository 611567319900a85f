import { test } from "node:test";
import { StepCounter } from "../../../../../test/support/steps.ts";
import { isQualifiedIscsiName } from "./iscsi-names.ts";

const counter = new StepCounter();

for (const part of ["iqn.2001-04.a", "iqn.2001-04.a:", "iqn.2001-04.a;"]) {
  test(`reads a long name of ${part} once`, () => {
    counter.assertLinear((size) => void isQualifiedIscsiName(`${part.repeat(size)};`), 20_000);
  });
}
