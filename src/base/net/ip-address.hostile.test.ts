import { test } from "node:test";
import { StepCounter } from "../../../test/support/steps.ts";
import { parseLooseAddress } from "./ip-address.ts";

const counter = new StepCounter();

for (const [name, textOf] of Object.entries<(zeros: string) => string>({
  "a part of an IPv4 address": (zeros) => `1.2.3.${zeros}4`,
  "parts of an IPv6 address": (zeros) => `${zeros}::${zeros}`,
  "a wrong character after zeros": (zeros) => `${zeros}x`,
  "a wrong part after zeros": (zeros) => `${zeros}.x`,
  "many parts": (zeros) => zeros.replaceAll("0", "0."),
})) {
  test(`reads an address of many zeros once: ${name}`, () => {
    counter.assertLinear((size) => void parseLooseAddress(textOf("0".repeat(size))), 300_000);
  });
}
