import assert from "node:assert/strict";
import { type ClientRequest, type IncomingMessage, request } from "node:http";
import { suite, type TestContext, test } from "node:test";
import { freePort } from "../../../test/support/ports.ts";
import { eventually } from "../../../test/support/time.ts";
import type { JsonObject } from "../../base/api/object.ts";
import { systemClock } from "../../base/util/clock.ts";
import { drivenEnvironment } from "../../base/util/environment.suite.ts";
import { type Config, defaultConfig } from "./config.ts";
import { startServer } from "./server.ts";

const FLOWS = "/apis/flowcontrol.apiserver.k8s.io/v1";
const MAPS = "/api/v1/namespaces/default/configmaps";

/** The built-in levels have 245 shares, so that one more level with one share has one seat. */
const ONE_SEAT_EACH: Partial<Config> = { maxRequestsInflight: 246, maxMutatingRequestsInflight: 0 };

async function start(t: TestContext, given: Partial<Config>): Promise<string> {
  const config = { ...defaultConfig, ...given, insecurePort: await freePort(), shutdownGraceMs: 0 };
  // With a clock that runs: there is no fairness otherwise.
  const server = await startServer(config, { ...drivenEnvironment(), clock: systemClock });
  t.after(() => server.close());
  return server.insecureUrl ?? "";
}

const asUser = (user: string) => ({ "impersonate-user": user, "impersonate-group": "system:authenticated" });

async function allow(base: string): Promise<void> {
  await post(base, "/apis/rbac.authorization.k8s.io/v1/clusterrolebindings", {
    metadata: { name: "everybody" },
    roleRef: { apiGroup: "rbac.authorization.k8s.io", kind: "ClusterRole", name: "cluster-admin" },
    subjects: [{ apiGroup: "rbac.authorization.k8s.io", kind: "Group", name: "system:authenticated" }],
  });
  await eventually(async () => (await fetch(base + MAPS, { headers: asUser("somebody") })).status === 200);
}

async function post(base: string, path: string, object: JsonObject): Promise<{ metadata: { uid: string } }> {
  const headers = { "content-type": "application/json" };
  const response = await fetch(base + path, { method: "POST", headers, body: JSON.stringify(object) });
  assert.equal(response.status, 201, await response.clone().text());
  return (await response.json()) as { metadata: { uid: string } };
}

/** A priority level for the requests of one user. Resolves when it is in use. */
async function addLevel(base: string, user: string, limitResponse: JsonObject) {
  const limited = { nominalConcurrencyShares: 1, lendablePercent: 0, borrowingLimitPercent: 0, limitResponse };
  const level = await post(base, `${FLOWS}/prioritylevelconfigurations`, {
    metadata: { name: user },
    spec: { type: "Limited", limited },
  });
  const schema = await post(base, `${FLOWS}/flowschemas`, {
    metadata: { name: user },
    spec: {
      priorityLevelConfiguration: { name: user },
      matchingPrecedence: 10,
      distinguisherMethod: { type: "ByUser" },
      rules: [
        {
          subjects: [{ kind: "User", user: { name: user } }],
          resourceRules: [{ verbs: ["*"], apiGroups: ["*"], resources: ["*"], namespaces: ["*"] }],
        },
      ],
    },
  });
  const ids = { schema: schema.metadata.uid, level: level.metadata.uid };
  await eventually(async () => {
    const { headers } = await fetch(base + MAPS, { headers: asUser(user) });
    return headers.get("x-kubernetes-pf-flowschema-uid") === ids.schema;
  });
  return ids;
}

/** A create whose body does not arrive until `finish` is called. It holds its seat meanwhile. */
function unfinishedCreate(base: string, user: string, name: string) {
  const body = JSON.stringify({ metadata: { name } });
  const headers = { ...asUser(user), "content-type": "application/json", "content-length": String(body.length) };
  const answered = Promise.withResolvers<IncomingMessage>();
  const call: ClientRequest = request(base + MAPS, { method: "POST", headers }, answered.resolve);
  call.on("error", answered.reject);
  call.flushHeaders();
  return {
    async finish(): Promise<number> {
      call.end(body);
      const response = await answered.promise;
      response.resume();
      return response.statusCode ?? 0;
    },
  };
}

async function dump(base: string, name: string): Promise<string[][]> {
  const response = await fetch(`${base}/debug/api_priority_and_fairness/${name}`);
  assert.equal(response.status, 200);
  const lines = (await response.text()).trimEnd().split("\n");
  return lines.map((line) => line.split(",").map((cell) => cell.trim()));
}

const executing = async (base: string, user: string): Promise<string | undefined> =>
  (await dump(base, "dump_priority_levels")).find(([name]) => name === user)?.[5];

suite("priority and fairness", () => {
  test("a level that rejects answers 429 with Retry-After while its seats are taken", async (t) => {
    const base = await start(t, ONE_SEAT_EACH);
    await allow(base);
    const ids = await addLevel(base, "flooder", { type: "Reject" });
    const holder = unfinishedCreate(base, "flooder", "held");
    await eventually(async () => (await executing(base, "flooder")) === "1");
    const rejected = await fetch(base + MAPS, { headers: asUser("flooder") });
    assert.equal(rejected.status, 429);
    assert.equal(rejected.headers.get("retry-after"), "1");
    assert.equal(rejected.headers.get("x-kubernetes-pf-prioritylevel-uid"), ids.level);
    assert.equal(await rejected.text(), "Too many requests, please try again later.\n");
    assert.equal((await fetch(base + MAPS, { headers: asUser("other") })).status, 200);
    assert.equal((await fetch(base + MAPS)).status, 200);
    assert.equal(await holder.finish(), 201);
    await eventually(async () => (await fetch(base + MAPS, { headers: asUser("flooder") })).status === 200);
    const metrics = await (await fetch(`${base}/metrics`)).text();
    assert.match(metrics, /watch_count_samples_count\{flow_schema="flooder",priority_level="flooder"\} 1\n/);
    assert.match(
      metrics,
      /rejected_requests_total\{flow_schema="flooder",priority_level="flooder",reason="concurrency-limit"\} 1/,
    );
  });

  test("a level with queues lets requests wait, and shows them", async (t) => {
    const base = await start(t, ONE_SEAT_EACH);
    await allow(base);
    const queuing = { queues: 2, handSize: 1, queueLengthLimit: 1 };
    await addLevel(base, "patient", { type: "Queue", queuing });
    const holder = unfinishedCreate(base, "patient", "held");
    await eventually(async () => (await executing(base, "patient")) === "1");
    const waiting = fetch(base + MAPS, { headers: asUser("patient") });
    await eventually(async () =>
      (await dump(base, "dump_requests")).some(([level, , , place]) => level === "patient" && place === "0"),
    );
    assert.equal((await fetch(base + MAPS, { headers: asUser("patient") })).status, 429);
    const details = await dump(base, "dump_requests?includeRequestDetails=1");
    assert.ok(details.some((row) => row[0] === "patient" && row.includes("configmaps") && row[10] === "patient"));
    assert.equal(await holder.finish(), 201);
    assert.equal((await waiting).status, 200);
  });

  test("a client that disconnects leaves its queue", async (t) => {
    const base = await start(t, ONE_SEAT_EACH);
    await allow(base);
    await addLevel(base, "hasty", { type: "Queue", queuing: { queues: 1, handSize: 1, queueLengthLimit: 5 } });
    const holder = unfinishedCreate(base, "hasty", "held");
    await eventually(async () => (await executing(base, "hasty")) === "1");
    const leaving = new AbortController();
    const gone = fetch(base + MAPS, { headers: asUser("hasty"), signal: leaving.signal }).catch(() => undefined);
    const row = async () => (await dump(base, "dump_priority_levels")).find(([name]) => name === "hasty");
    await eventually(async () => (await row())?.[4] === "1");
    leaving.abort();
    await gone;
    await eventually(async () => (await row())?.[4] === "0");
    assert.equal((await row())?.[9], "1");
    assert.equal(await holder.finish(), 201);
  });

  test("a watch gives its seat back when it has sent what exists", async (t) => {
    const base = await start(t, ONE_SEAT_EACH);
    await allow(base);
    await addLevel(base, "watcher", { type: "Reject" });
    const leaving = new AbortController();
    t.after(() => leaving.abort());
    const watch = await fetch(`${base}${MAPS}?watch=1`, { headers: asUser("watcher"), signal: leaving.signal });
    assert.equal(watch.status, 200);
    await eventually(async () => (await fetch(base + MAPS, { headers: asUser("watcher") })).status === 200);
  });

  test("--enable-priority-and-fairness=false limits reads and writes alone", async (t) => {
    const base = await start(t, { enablePriorityAndFairness: false, maxMutatingRequestsInflight: 1 });
    await allow(base);
    const holder = unfinishedCreate(base, "first", "held");
    const write = () =>
      fetch(base + MAPS, {
        method: "POST",
        headers: { ...asUser("second"), "content-type": "application/json" },
        body: JSON.stringify({ metadata: { generateName: "a-" } }),
      });
    await eventually(async () => (await write()).status === 429);
    const read = await fetch(base + MAPS, { headers: asUser("second") });
    assert.equal(read.status, 200);
    assert.equal(read.headers.get("x-kubernetes-pf-flowschema-uid"), null);
    assert.equal(await holder.finish(), 201);
    await eventually(async () => (await write()).status === 201);
  });
});
