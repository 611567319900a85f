import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { startBinnacle, withDefault } from "../support/binnacle.ts";
import { clientFor } from "../support/client.ts";
import { tokens } from "../support/oracle.ts";
import { eventually } from "../support/time.ts";

/** How long the server would wait for a connection that is in use. Far longer than the test takes on any machine. */
const GRACE_MS = 1_800_000;

describe("signals", { concurrency: 2 }, () => {
  for (const signal of ["SIGTERM", "SIGHUP", "SIGINT"] as const) {
    it(`${signal} ends watches cleanly and the process with exit code 0`, async () => {
      const server = await startBinnacle({ nodeFlags: withDefault("shutdownGraceMs", GRACE_MS) });
      try {
        const client = clientFor(server.base, tokens.admin);
        const events = client.watch("/api/v1/namespaces?watch=1", new AbortController().signal);
        assert.equal((await events.next()).value.type, "ADDED");
        process.kill(server.process.pid, signal);
        const startMs = performance.now();
        // The stream ends properly: a broken one would throw.
        for await (const { type } of events) assert.equal(type, "ADDED");
        assert.match(await server.process.exited, /ended with code 0/);
        assert.ok(performance.now() - startMs < GRACE_MS, "the connection of the watch is not waited for");
      } finally {
        await server.kill();
      }
    });
  }

  it("readiness fails before the listener closes, liveness does not, and a second signal ends the process at once", async () => {
    const server = await startBinnacle({ flags: ["--shutdown-delay-duration=1m"] });
    try {
      const client = clientFor(server.base, tokens.admin);
      process.kill(server.process.pid, "SIGTERM");
      const isUnready = async () => (await client.call("GET", "/readyz")).status === 500;
      await eventually(isUnready, { everyMs: 20, what: "readiness fails" });
      const report = await client.call("GET", "/readyz?verbose");
      assert.match(report.body, /^\[\+\]etcd ok$/m);
      assert.match(report.body, /^\[-\]shutdown failed: reason withheld$/m);
      const alone = await client.call("GET", "/readyz/shutdown");
      assert.deepEqual([alone.status, alone.body], [500, "internal server error: process is shutting down\n"]);
      assert.equal((await client.call("GET", "/livez")).status, 200);
      assert.equal((await client.call("GET", "/api/v1/namespaces/default")).status, 200);
      const leases = "/apis/coordination.k8s.io/v1/namespaces/kube-system/leases";
      const labelled = `${leases}?labelSelector=apiserver.kubernetes.io/identity`;
      const isWithdrawn = async () => (await client.call("GET", labelled)).body.items.length === 0;
      await eventually(isWithdrawn, { what: "the server's own Lease is gone while it still serves" });
      process.kill(server.process.pid, "SIGHUP");
      assert.match(await server.process.exited, /ended with code 1/);
    } finally {
      await server.kill();
    }
  });

  it("SIGUSR1 opens no debugger", async () => {
    const server = await startBinnacle();
    try {
      process.kill(server.process.pid, "SIGUSR1");
      assert.equal((await clientFor(server.base, tokens.admin).call("GET", "/livez")).status, 200);
      await server.process.kill();
      assert.match(await server.process.exited, /ended with code 0/);
      assert.doesNotMatch(server.process.output(), /[Dd]ebugger/);
    } finally {
      await server.kill();
    }
  });
});
