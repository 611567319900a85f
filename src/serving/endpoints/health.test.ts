import assert from "node:assert/strict";
import { test } from "node:test";
import { ApiError } from "../../base/api/api-error.ts";
import type { Call } from "../../base/api/call.ts";
import { ManualClock } from "../../base/util/environment.suite.ts";
import { systemRandom } from "../../base/util/random.ts";
import { makeCall } from "../pipeline/in-process.ts";
import { health, healthPaths, PING } from "./health.ts";
import { root } from "./root.ts";
import { version } from "./version.ts";

function call(target: string, method = "GET"): Call {
  const url = new URL(target, "http://localhost");
  return makeCall(
    { method, path: url.pathname, query: url.searchParams, user: { name: "admin", groups: [] } },
    systemRandom,
  );
}

const broken = { name: "etcd", check: async () => Promise.reject(new Error("etcd failed: no leader")) };
const hook = { name: "poststarthook/rbac/bootstrap-roles", check: async () => {} };
const endpoints = { livez: [PING, hook], readyz: [PING, broken] };
const answer = health(endpoints, new ManualClock());

async function bodyOf(target: string): Promise<[number, string] | undefined> {
  const reply = await answer(call(target));
  if (reply === undefined) return undefined;
  assert.ok(reply.type === "raw");
  assert.equal(reply.headers["content-type"], "text/plain; charset=utf-8");
  return [reply.code, String(reply.body)];
}

test("a healthy server returns ok, or details with ?verbose", async () => {
  assert.deepEqual(await bodyOf("/livez"), [200, "ok"]);
  assert.equal(await bodyOf("/livez/"), undefined);
  assert.equal(await bodyOf("/livez/ping/"), undefined);
  assert.deepEqual(await bodyOf("/livez?verbose"), [
    200,
    "[+]ping ok\n[+]poststarthook/rbac/bootstrap-roles ok\nlivez check passed\n",
  ]);
});

test("names a failed check but not the reason", async () => {
  assert.deepEqual(await bodyOf("/readyz"), [
    500,
    "[+]ping ok\n[-]etcd failed: reason withheld\nreadyz check failed\n",
  ]);
});

test("checks can be excluded", async () => {
  assert.deepEqual(await bodyOf("/readyz?exclude=etcd"), [200, "ok"]);
  assert.deepEqual(await bodyOf("/readyz?exclude=etcd&exclude=nothing&verbose=true"), [
    200,
    '[+]ping ok\n[+]etcd excluded: ok\nwarn: some health checks cannot be excluded: no matches for "nothing"\nreadyz check passed\n',
  ]);
});

test("each check has its own path", async () => {
  assert.deepEqual(await bodyOf("/livez/ping"), [200, "ok"]);
  assert.deepEqual(await bodyOf("/livez/poststarthook/rbac/bootstrap-roles"), [200, "ok"]);
  assert.deepEqual(await bodyOf("/readyz/etcd"), [500, "internal server error: etcd failed: no leader\n"]);
  assert.equal(await bodyOf("/readyz/nonsense"), undefined);
  assert.equal(await bodyOf("/version"), undefined);
  assert.deepEqual(healthPaths({ livez: [PING] }), ["/livez", "/livez/ping"]);
});

test("a check that hangs fails within 2 s", async () => {
  const clock = new ManualClock();
  const hanging = { name: "etcd", check: () => new Promise<void>(() => {}) };
  const answerHanging = health({ readyz: [PING, hanging] }, clock);
  const [all, one] = [answerHanging(call("/readyz?verbose")), answerHanging(call("/readyz/etcd"))];
  await clock.advance(2000);
  const [report, alone] = await Promise.all([all, one]);
  assert.ok(report?.type === "raw" && alone?.type === "raw");
  assert.equal(report.body, "[+]ping ok\n[-]etcd failed: reason withheld\nreadyz check failed\n");
  assert.equal(alone.body, "internal server error: context deadline exceeded\n");
  assert.deepEqual([report.code, alone.code, clock.timerCount], [500, 500, 0]);
});

test("serves the version as indented JSON", () => {
  const answerVersion = version({
    major: "1",
    minor: "37",
    gitVersion: "v1.37.1",
    gitCommit: "",
    gitTreeState: "clean",
    buildDate: "2030-01-01T00:00:00Z",
    goVersion: "",
    compiler: "node",
    platform: "linux/amd64",
  });
  const reply = answerVersion(call("/version"));
  assert.ok(reply.type === "raw");
  assert.equal(reply.headers["content-type"], "application/json");
  assert.match(String(reply.body), /^\{\n {2}"major": "1",\n {2}"minor": "37",\n {2}"emulationMajor": "1",/);
  assert.equal(JSON.parse(String(reply.body)).minCompatibilityMinor, "36");
  assert.throws(
    () => answerVersion(call("/version", "POST")),
    (error) => error instanceof ApiError && error.code === 405,
  );
});

test("the root lists unique paths, sorted", () => {
  const reply = root(() => ["/version", "/api", "/api"])(call("/"));
  assert.ok(reply.type === "raw");
  assert.equal(reply.body, '{\n  "paths": [\n    "/api",\n    "/version"\n  ]\n}');
});
