import assert from "node:assert/strict";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { test } from "node:test";
import { freePort } from "../../../test/support/ports.ts";
import type { LoggedError } from "../../base/log/careful-log.ts";
import { drivenEnvironment } from "../../base/util/environment.suite.ts";
import { MemoryStore } from "../../storage/memory.ts";
import { StoreError } from "../../storage/store.ts";
import { FaultyStore } from "../../storage/suite/faulty-store.suite.ts";
import { defaultConfig } from "./config.ts";
import { startServer } from "./server.ts";

const REJECTS = "the store rejects writes; check disk space and permissions, or the health of etcd";

test("a store that rejects writes is logged once per minute and cause, and makes the server unready", async (t) => {
  const environment = drivenEnvironment();
  const { clock, lines } = environment;
  const certDir = await mkdtemp(path.join(tmpdir(), "binnacle-health-"));
  t.after(() => rm(certDir, { recursive: true, force: true }));
  const store = new FaultyStore(new MemoryStore({ clock }));
  const ports = { securePort: 0, insecurePort: await freePort() };
  const config = { ...defaultConfig, ...ports, certDir, controllers: "none", shutdownGraceMs: 0 };
  const server = await startServer(config, environment, { store });
  t.after(() => server.close());
  const statusOf = async (target: string, init?: RequestInit) => {
    const response = await fetch(`${server.insecureUrl}${target}`, init);
    await response.body?.cancel();
    return response.status;
  };
  let count = 0;
  const create = () =>
    statusOf("/api/v1/namespaces", {
      method: "POST",
      body: JSON.stringify({ metadata: { name: `n${count++}` } }),
      headers: { "content-type": "application/json" },
    });
  const fail = (message: string) => store.failNext("put", { error: new StoreError("unavailable", message) });

  lines.length = 0;
  assert.equal(await statusOf("/readyz"), 200);
  for (const message of [
    "database or disk is full",
    "database or disk is full",
    "attempt to write a readonly database",
  ])
    fail(message);
  assert.deepEqual([await create(), await create(), await create()], [500, 500, 500]);
  assert.equal(await statusOf("/readyz"), 500);
  assert.equal(await statusOf("/livez"), 200);
  assert.deepEqual(
    lines.map(({ text, fields }) => [text, (fields as { err: LoggedError }).err.message]),
    [
      [REJECTS, "database or disk is full"],
      [REJECTS, "attempt to write a readonly database"],
    ],
  );
  assert.equal(await create(), 201);
  assert.equal(await statusOf("/readyz"), 200);
  assert.equal(lines.at(-1)?.text, "the store accepts writes again");
  lines.length = 0;
  for (let i = 0; i < 3; i++) {
    fail("database or disk is full");
    assert.deepEqual([await create(), await create()], [500, 201]);
  }
  assert.deepEqual(lines, [], "a disk that is almost full says so once per minute, too");
  await clock.advance(60_000);
  fail("database or disk is full");
  assert.equal(await create(), 500);
  assert.deepEqual(
    lines.map(({ text }) => text),
    [REJECTS],
  );
});
