import assert from "node:assert/strict";
import { test } from "node:test";
import { needs } from "../support/tools.ts";
import { printCompared } from "./comparison.ts";
import { PROJECTS } from "./projects.ts";
import { compareProjects } from "./run.ts";

/** Small ones; `npm run compare crds-real` takes all. */
const CHOSEN = ["keda", "kustomize-controller"];

test("definitions of real projects, and their samples, are answered as by the real kube-apiserver", {
  ...needs("kube-apiserver", "etcd", "kubectl", "go"),
}, async (t) => {
  const seed = Number(process.env.FUZZ_SEED ?? 1);
  const compared = await compareProjects(
    PROJECTS.filter(({ name }) => CHOSEN.includes(name)),
    seed,
  );
  const { definitions, accepted, requests, findings } = compared;
  t.diagnostic(`${definitions} definitions, ${accepted} objects, ${requests} requests`);
  assert.ok(definitions >= 7 && accepted >= 20 && requests >= 400);
  assert.equal(findings.length, 0, printCompared(seed, compared));
});
