import assert from "node:assert/strict";
import { test } from "node:test";
import { isRequired, OPTIONAL, summarize } from "./skipped.ts";

test("reports how many tests were skipped and how to get the missing programs", () => {
  const etcd = "etcd is missing: run tools/provide";
  const kubectl = "kubectl is missing: run tools/provide";
  assert.equal(summarize([]), undefined);
  assert.equal(summarize([{ type: "test", reason: etcd }]), "skipped 1 test: etcd is missing; run tools/provide");
  assert.equal(
    summarize([
      { type: "suite", reason: `${kubectl}; ${etcd}` },
      { type: "test", reason: etcd },
      { type: "suite", reason: kubectl },
    ]),
    "skipped 1 test and 2 suites: etcd, kubectl are missing; run tools/provide",
  );
  assert.equal(summarize([{ type: "test", reason: "not today" }]), "skipped 1 test: not today");
});

test("does not fail a run for optional programs", () => {
  const helm = `helm ${OPTIONAL}: run tools/provide helm`;
  assert.equal(summarize([{ type: "suite", reason: helm }]), `skipped 1 suite: ${helm}`);
  assert.equal(isRequired({ type: "suite", reason: helm }), false);
  assert.equal(isRequired({ type: "suite", reason: `${helm}; etcd is missing: run tools/provide` }), true);
  assert.equal(isRequired({ type: "test", reason: "not today" }), true);
});
