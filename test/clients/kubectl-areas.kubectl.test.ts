import assert from "node:assert/strict";
import { after, before, describe, test } from "node:test";
import { type RunningBinnacle, startBinnacle } from "../support/binnacle.ts";
import { needs } from "../support/tools.ts";
import { AREAS } from "./kubectl/areas.ts";
import { casesOf, differences } from "./kubectl/compare.ts";
import { readRecording } from "./kubectl/recordings.ts";
import { runCase } from "./kubectl/run-case.ts";

/** A part of what `npm run compare kubectl` does: 260 calls, some 35 s of processor time. None of them depends on how fast it is answered. */
const IN_CI = [
  "auth-whoami",
  "authorization",
  "batch",
  "certificate",
  "convert",
  "create",
  "rbac",
  "results",
  "run",
  "scale",
  "storage",
];

describe("kubectl with Binnacle writes what it does with kube-apiserver", {
  concurrency: 3,
  ...needs("kubectl"),
}, () => {
  let server: RunningBinnacle;
  before(async () => {
    server = await startBinnacle({ flags: ["--custom-objects=defined"] });
  });
  after(() => server.kill());

  for (const { area, namespace, script } of casesOf(AREAS.filter(({ name }) => IN_CI.includes(name))))
    test(`${area.name}: ${script.title}`, async () => {
      const wanted = (await readRecording(area.name)).get(script.title) ?? [];
      const found = await runCase({ base: server.base, directory: server.directory }, namespace, script);
      assert.deepEqual(differences(script, wanted, found), []);
    });
});
