import assert from "node:assert/strict";
import { suite, test } from "node:test";
import { needsStore } from "../support/tools.ts";
import { parseOptions } from "./lib/options.mjs";
import { runScenarios } from "./lib/run.mjs";
import { startServer } from "./server.ts";

/** On a busy machine a compaction is often between the two writes. */
const TRIES = 10;

/** The scenarios that need a server without its early history; the others are replayed by `run.ts`. */
suite("lists and watches of versions that are no longer kept", () => {
  for (const store of ["memory", "sqlite", "etcd"] as const) {
    test(`are refused as recorded on ${store}`, { ...needsStore(store) }, async (t) => {
      const server = await startServer(store, ["--etcd-compaction-interval=2s"]);
      t.after(() => server.kill());
      const connection = ["--base", server.base, "--token", server.tokens.admin];
      const failuresOf = async (name: string, needs: string) => {
        const report = await runScenarios(parseOptions([...connection, "--only", name, "--with", needs]));
        const steps = report.scenarios.flatMap((scenario) => scenario.steps);
        const failed = steps.filter(({ ok }) => !ok).map(({ id, diffs }) => `${name}/${id}: ${JSON.stringify(diffs)}`);
        assert.ok(steps.length >= 8, `${name} has ${steps.length} steps`);
        return failed;
      };
      // A compaction at the revision between the two writes after `page-1` leaves the second of them to a watch: lists are
      // refused then, the watch is not. That is no failure of the server, but one of the next compactions must do.
      const isBetween = (failed: readonly string[]) =>
        failed.length === 1 && failed.every((text) => text.startsWith("list-expired/watch-expired:"));
      let failed = await failuresOf("list-expired", "compaction");
      for (let tries = 1; tries < TRIES && isBetween(failed); tries += 1) {
        failed = await failuresOf("list-expired", "compaction");
      }
      assert.deepEqual(failed, []);
      // It only begins when the history before the other one is gone.
      assert.deepEqual(await failuresOf("watch-too-old", "restarted"), []);
    });
  }
});
