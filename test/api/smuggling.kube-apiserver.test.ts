import assert from "node:assert/strict";
import { after, before, suite, test } from "node:test";
import { type RunningBinnacle, startBinnacle } from "../support/binnacle.ts";
import { type Oracle, startOracle } from "../support/oracle.ts";
import { needs } from "../support/tools.ts";
import { statusesOf, streamed } from "./raw-requests.ts";
import { DIFFERENT, HTTP1, HTTP2, RESET_IF_EARLY } from "./smuggling.ts";

suite("ambiguous requests are handled like by kube-apiserver, or rejected", {
  ...needs("kube-apiserver", "etcd"),
}, () => {
  let oracle: Oracle;
  let binnacle: RunningBinnacle;
  before(async () => {
    [oracle, binnacle] = await Promise.all([startOracle(), startBinnacle()]);
  });
  after(() => Promise.all([oracle?.kill(), binnacle?.kill()]));

  const check = (name: string, send: (base: string) => Promise<string>) =>
    test(name, async () => {
      const [theirs, ours] = await Promise.all([send(oracle.base), send(binnacle.base)]);
      if (RESET_IF_EARLY.has(name) && ours === "refused") return;
      const [answer] = DIFFERENT[name] ?? [theirs];
      assert.equal(ours, answer, `kube-apiserver: ${theirs}`);
      if (DIFFERENT[name]) assert.notEqual(ours, theirs, "listed as different, and is not");
    });

  for (const [name, text] of Object.entries(HTTP1)) check(name, (base) => statusesOf(base, text));
  for (const [name, { fields, body }] of Object.entries(HTTP2)) {
    check(`h2 ${name}`, (base) => streamed(base, fields, body));
  }
});
