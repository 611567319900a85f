import assert from "node:assert/strict";
import { it, type TestContext } from "node:test";
import { KeepAlive } from "./keep-alive.ts";

function start(t: TestContext) {
  t.mock.timers.enable({ apis: ["setTimeout", "setInterval", "Date"], now: 1_000_000 });
  const told: string[] = [];
  const keepAlive = new KeepAlive({
    intervalMs: 30_000,
    timeoutMs: 10_000,
    ping: () => told.push("ping"),
    lost: () => told.push("lost"),
  });
  t.after(() => keepAlive.close());
  return { keepAlive, told, pass: (ms: number) => t.mock.timers.tick(ms) };
}

it("pings regularly, and keeps a connection that responds", (t) => {
  const { keepAlive, told, pass } = start(t);
  for (let turn = 0; turn < 3; turn++) {
    pass(30_000);
    keepAlive.answered();
  }
  pass(29_999);
  assert.deepEqual(told, ["ping", "ping", "ping"]);
});

it("drops a connection that does not respond in time", (t) => {
  const { keepAlive, told, pass } = start(t);
  keepAlive.check();
  pass(9_999);
  assert.deepEqual(told, ["ping"]);
  pass(1);
  assert.deepEqual(told, ["ping", "lost"]);
});

it("pings on demand, but not more often than etcd allows, nor twice at once", (t) => {
  const { keepAlive, told, pass } = start(t);
  keepAlive.check();
  pass(6_000);
  keepAlive.check();
  assert.deepEqual(told, ["ping"], "the first is not answered yet");
  keepAlive.answered();
  keepAlive.check();
  keepAlive.answered();
  pass(5_000);
  keepAlive.check();
  assert.deepEqual(told, ["ping", "ping"], "5 s after the last");
  pass(500);
  keepAlive.check();
  assert.deepEqual(told, ["ping", "ping", "ping"]);
});

it("neither pings nor drops the connection after close", (t) => {
  const { keepAlive, told, pass } = start(t);
  keepAlive.check();
  keepAlive.close();
  pass(100_000);
  assert.deepEqual(told, ["ping"]);
});
