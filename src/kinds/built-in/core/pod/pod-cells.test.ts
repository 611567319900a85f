import assert from "node:assert/strict";
import { test } from "node:test";
import type { Json, JsonObject, KubeObject } from "../../../../base/api/object.ts";
import { podColumns, podRowConditions } from "./pod-cells.ts";
import { podGracePeriodSeconds } from "./pod-grace-period.ts";

const NOW = Date.parse("2030-01-01T01:00:00Z");

function pod(spec: JsonObject, status: JsonObject, metadata: JsonObject = {}): KubeObject {
  return {
    kind: "Pod",
    apiVersion: "v1",
    metadata: { name: "p", creationTimestamp: "2030-01-01T00:00:00Z", ...metadata },
    spec: { containers: [{ name: "a" }], ...spec },
    status: { phase: "Running", ...status },
  };
}

function cells(object: KubeObject): Json[] {
  return podColumns.map((column) => column.cell(object, NOW));
}

/** Ready, Status and Restarts. */
const main = (object: KubeObject): Json[] => cells(object).slice(1, 4);

const ended = (exitCode: number, more: JsonObject = {}): JsonObject => ({ terminated: { exitCode, ...more } });
const running = { running: {} };
const ready = { type: "Ready", status: "True" };
const sidecar = { initContainers: [{ name: "s", restartPolicy: "Always" }, { name: "i" }] };

test("shows why a pod waits", () => {
  assert.deepEqual(main(pod({}, { phase: "Pending" })), ["0/1", "Pending", "0"]);
  assert.deepEqual(main(pod({}, { phase: "Failed", reason: "Evicted" })), ["0/1", "Evicted", "0"]);
  const gated = { type: "PodScheduled", status: "False", reason: "SchedulingGated" };
  assert.deepEqual(main(pod({}, { phase: "Pending", conditions: [gated] })), ["0/1", "SchedulingGated", "0"]);
  const waiting = { name: "a", restartCount: 3, state: { waiting: { reason: "CrashLoopBackOff" } } };
  const lastState = ended(1, { finishedAt: "2030-01-01T00:58:30Z" });
  assert.deepEqual(main(pod({}, { containerStatuses: [{ ...waiting, lastState }] })), [
    "0/1",
    "CrashLoopBackOff",
    "3 (90s ago)",
  ]);
});

test("shows the end of a container by reason, signal or exit code", () => {
  const status = (state: JsonObject) => main(pod({}, { containerStatuses: [{ name: "a", state }] }))[1];
  assert.equal(status(ended(2, { reason: "Error" })), "Error");
  assert.equal(status(ended(137, { signal: 9 })), "Signal:9");
  assert.equal(status(ended(2)), "ExitCode:2");
});

test("shows init containers first", () => {
  const init = (statuses: JsonObject[]) => main(pod(sidecar, { phase: "Pending", initContainerStatuses: statuses }));
  const started = { name: "s", started: true, ready: true, restartCount: 1, state: running };
  assert.deepEqual(init([{ name: "s", state: {} }]), ["0/2", "Init:0/2", "0"]);
  assert.deepEqual(init([started, { name: "i", state: running }]), ["1/2", "Init:1/2", "1"]);
  assert.deepEqual(init([started, { name: "i", restartCount: 2, state: ended(1, { reason: "Error" }) }]), [
    "1/2",
    "Init:Error",
    "3",
  ]);
  assert.deepEqual(init([started, { name: "i", state: { waiting: { reason: "PodInitializing" } } }])[1], "Init:1/2");
  assert.deepEqual(
    init([started, { name: "i", state: { waiting: { reason: "ImagePullBackOff" } } }])[1],
    "Init:ImagePullBackOff",
  );
  // Once they are done, only the restarts of sidecars count.
  const done = [started, { name: "i", restartCount: 5, state: ended(0) }];
  const containers = { containerStatuses: [{ name: "a", ready: true, state: running }] };
  assert.deepEqual(main(pod(sidecar, { initContainerStatuses: done, ...containers })), ["2/2", "Running", "1"]);
});

test("a pod with a running container is not completed", () => {
  const two = { containers: [{ name: "a" }, { name: "b" }] };
  const statuses = [
    { name: "a", state: ended(0, { reason: "Completed" }) },
    { name: "b", ready: true, state: running },
  ];
  assert.deepEqual(main(pod(two, { containerStatuses: statuses, conditions: [ready] })), ["1/2", "Running", "0"]);
  assert.deepEqual(main(pod(two, { containerStatuses: statuses })), ["1/2", "NotReady", "0"]);
  const failed = [statuses[0] ?? {}, { name: "b", state: ended(1, { reason: "Error" }) }];
  assert.deepEqual(main(pod(two, { containerStatuses: failed })), ["0/2", "Error", "0"]);
});

test("a deleted pod is Terminating unless it has ended", () => {
  const deleted = { deletionTimestamp: "2030-01-01T00:30:00Z" };
  assert.equal(main(pod({}, {}, deleted))[1], "Terminating");
  assert.equal(main(pod({}, { reason: "NodeLost" }, deleted))[1], "Unknown");
  assert.equal(main(pod({}, { phase: "Succeeded" }, deleted))[1], "Succeeded");
});

test("has wide columns", () => {
  const gates = { readinessGates: [{ conditionType: "Ready" }, { conditionType: "x" }], nodeName: "n" };
  const status = { conditions: [ready], podIPs: [{ ip: "10.0.0.1" }, { ip: "fd00::1" }], nominatedNodeName: "m" };
  assert.deepEqual(cells(pod(gates, status)).slice(4), ["60m", "10.0.0.1", "n", "m", "1/2"]);
  assert.deepEqual(cells(pod({}, {})).slice(5), ["<none>", "<none>", "<none>", "<none>"]);
});

test("rows of finished pods have a condition", () => {
  assert.deepEqual(podRowConditions(pod({}, {})), []);
  assert.deepEqual(podRowConditions(pod({}, { phase: "Failed" })), [
    { type: "Completed", status: "True", reason: "Failed", message: "The pod failed." },
  ]);
});

test("the grace period only applies to pods with a node", () => {
  const bound = pod({ nodeName: "n", terminationGracePeriodSeconds: 30 }, {});
  assert.equal(podGracePeriodSeconds(bound, undefined), 30);
  assert.equal(podGracePeriodSeconds(bound, 5), 5);
  assert.equal(podGracePeriodSeconds(bound, 0), 0);
  assert.equal(podGracePeriodSeconds(bound, -1), 1);
  assert.equal(podGracePeriodSeconds(pod({ terminationGracePeriodSeconds: 30 }, {}), 5), 0);
  assert.equal(podGracePeriodSeconds(pod({ nodeName: "n" }, { phase: "Succeeded" }), 5), 0);
});
