import assert from "node:assert/strict";
import { test } from "node:test";
import { eventually } from "../../../test/support/time.ts";
import type { ApiReply } from "../../base/api/reply.ts";
import { MetricRegistry } from "../../base/metrics/metrics.ts";
import { systemClock } from "../../base/util/clock.ts";
import { drivenEnvironment } from "../../base/util/environment.suite.ts";
import { seededRandom } from "../../base/util/seeded-random.ts";
import type { ServedResource } from "../../resources/model/catalog.ts";
import { type CallRequest, callInProcess } from "./in-process.ts";
import { StallWatchdog, type WatchdogOptions } from "./stall-watchdog.ts";

const REPLY: ApiReply = { type: "raw", code: 200, headers: {}, body: "" };
const USER = { name: "alice", groups: [] };
const PODS = "/api/v1/namespaces/default/pods";

/** A watchdog with a driven clock for which only pods are served. */
function fixture(clock?: WatchdogOptions["clock"]) {
  const { log, lines } = drivenEnvironment();
  const registry = new MetricRegistry();
  let [nowMs, usedMs] = [0, 0];
  let look = () => {};
  const own = {
    ...systemClock,
    monotonic: () => nowMs,
    setInterval: (_: number, call: () => void) => {
      look = call;
      const timer = { close: () => {}, unref: () => timer };
      return timer;
    },
  };
  const watchdog = new StallWatchdog({
    ...{ clock: clock ?? own, log, registry, processorMs: () => usedMs },
    findServed: ({ resource }) => (resource === "pods" ? ({} as ServedResource) : undefined),
    isLongRunning: ({ verb }) => verb === "watch",
  });
  watchdog.start();
  return {
    ...{ watchdog, lines },
    pass(ms: number, used = ms) {
      nowMs += ms;
      usedMs += used;
      look();
    },
    stalls: () =>
      Number(/^binnacle_event_loop_stalls_total (\d+)$/m.exec(Buffer.from(registry.bytes()).toString())?.[1]),
  };
}

/** Starts a request that ends when `until` settles. */
function begin(watchdog: StallWatchdog, wanted: Omit<CallRequest, "user">, until: Promise<unknown>): Promise<ApiReply> {
  const handler = watchdog.stage(async () => {
    await until;
    return REPLY;
  });
  return callInProcess(handler, { ...wanted, user: USER }, seededRandom(1));
}

test("counts a stall and logs the requests in flight with their sizes", async () => {
  const { watchdog, lines, pass, stalls } = fixture();
  const never = new Promise<never>(() => {});
  const size = (bytes: number) => ({ headers: { "content-length": String(bytes) } });
  pass(50);
  await begin(watchdog, { method: "GET", path: `${PODS}/gone` }, Promise.resolve());
  pass(150);
  assert.deepEqual([stalls(), lines.length], [0, 0]);
  void begin(watchdog, { method: "POST", path: PODS, ...size(2_500_000) }, never);
  void begin(watchdog, { method: "POST", path: "/api/v1/namespaces/default/secret-words", ...size(7) }, never);
  void begin(watchdog, { method: "PUT", path: "/apis/../secret", ...size(1) }, never);
  void begin(watchdog, { method: "BREW", path: "/a-secret" }, never);
  await begin(watchdog, { method: "PATCH", path: `${PODS}/a/status`, ...size(30) }, Promise.resolve());
  pass(450, 20);
  assert.equal(stalls(), 1);
  const requests = [
    "create v1 pods 2500000 B",
    "patch v1 pods status 30 B",
    "/api 7 B",
    "/apis 1 B",
    "another path 0 B",
  ].join(", ");
  const fields = { ms: 400, cpuMs: 20, openRequests: 5, requests, suppressed: 0 };
  assert.deepEqual(lines, [{ level: "warn", text: "event loop blocked for 400 ms", fields }]);
});

test("counts every stall but logs at most one per ten seconds", () => {
  const { watchdog, lines, pass, stalls } = fixture();
  void begin(watchdog, { method: "GET", path: "/version" }, new Promise<never>(() => {}));
  for (let at = 0; at < 20; at += 1) pass(1000);
  assert.equal(stalls(), 20);
  assert.deepEqual(
    lines.map(({ fields }) => fields.suppressed),
    [0, 9],
  );
});

test("a watch counts as in flight until its response starts; logs nothing without requests in flight", async () => {
  const { watchdog, lines, pass, stalls } = fixture();
  await begin(
    watchdog,
    { method: "GET", path: `${PODS}?watch=1`, query: new URLSearchParams("watch=1") },
    Promise.resolve(),
  );
  pass(50);
  pass(500);
  assert.deepEqual([stalls(), lines], [1, []]);
});

test("detects a blocked event loop with the real clock", async (t) => {
  const { watchdog, lines } = fixture(systemClock);
  t.after(() => watchdog.close());
  await begin(
    watchdog,
    { method: "POST", path: PODS },
    Promise.resolve().then(() => {
      const endMs = performance.now() + 300;
      while (performance.now() < endMs);
    }),
  );
  const line = await eventually(() => lines[0]);
  assert.ok(Number(line.fields.ms) > 100, String(line.fields.ms));
  assert.match(String(line.fields.requests), /^create v1 pods 0 B$/);
});
