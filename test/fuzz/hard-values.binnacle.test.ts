import assert from "node:assert/strict";
import { test } from "node:test";
import { startBinnacle } from "../support/binnacle.ts";
import { clientFor } from "../support/client.ts";
import { tokens } from "../support/oracle.ts";
import { HARD_VALUES } from "./hard-values.ts";

test("no number, name or type that is hard to take makes the server fail, or write a Secret into its log", async (t) => {
  const binnacle = await startBinnacle();
  t.after(() => binnacle.kill());
  const { call } = clientFor(binnacle.base, tokens.admin);
  await call("POST", "/api/v1/namespaces", { metadata: { name: "fuzz" } });
  await call("POST", "/api/v1/namespaces/fuzz/serviceaccounts", { metadata: { name: "default" } });
  for (const { name, method, path, body, type } of HARD_VALUES) {
    const answer = await call(method, path, body, type === undefined ? {} : { "content-type": type });
    assert.doesNotMatch(String(answer.body?.message), /unexpected error/, name);
  }
  assert.doesNotMatch(binnacle.process.output(), /c2VzYW1l|request failed/);
});
