import assert from "node:assert/strict";
import { test } from "node:test";
import { needs } from "../support/tools.ts";
import { HARD_VALUES } from "./hard-values.ts";
import { differenceOf, Twins } from "./twins.ts";

test("numbers, names and types that are hard to take are answered as by the real kube-apiserver", {
  ...needs("kube-apiserver", "etcd"),
}, async (t) => {
  const twins = await Twins.start();
  t.after(() => twins.stop());
  for (const { name, method, path, body, type } of HARD_VALUES) {
    const difference = differenceOf(await twins.call(method, path, body, type), name);
    await t.test(name, () => assert.equal(difference, undefined));
  }
});
