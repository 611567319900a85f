import { test } from "node:test";
import { StepCounter } from "../../../test/support/steps.ts";
import { pemBlocks } from "./pem.ts";

const counter = new StepCounter();

for (const part of ["-----BEGIN A-----\n", "\n-----END A-----", "-----BEGIN A", " ", "\n", "a:\n", "\r", "-"]) {
  test(`reads a long text of ${JSON.stringify(part)} once`, () => {
    const long = (size: number) => part.repeat(size / part.length);
    const read = (text: string) => void [...pemBlocks(text)];
    counter.assertLinear((size) => read(`-----BEGIN A-----\nQUJD${long(size)}x\n-----END A`), 200_000);
    counter.assertLinear((size) => read(`-----BEGIN A${long(size)}`), 200_000);
  });
}
