import assert from "node:assert/strict";
import { test } from "node:test";
import type { ApiError } from "../../base/api/api-error.ts";
import { internalError, notFound } from "../../base/api/api-error.ts";
import { TestCluster } from "../controllers/shared/controllers.suite.ts";
import { EventRecorder } from "../controllers/shared/event-recorder.ts";
import { SchedulerEvents } from "./scheduler-events.ts";

test("Events about objects whose Namespace is gone are dropped without a report", async () => {
  const cluster = new TestCluster();
  const pod = { kind: "Pod", apiVersion: "v1", metadata: { name: "web", namespace: "gone", uid: "1" } };
  const reported: unknown[] = [];
  const recordBoth = async (error: ApiError) => {
    const failed = Promise.withResolvers<void>();
    let left = 2;
    const create = async () => {
      left -= 1;
      if (left === 0) failed.resolve();
      throw error;
    };
    const client = Object.assign(Object.create(cluster.client), { create });
    const report = (_controller: string, problem: unknown) => reported.push(problem);
    const context = { resources: cluster.resources, client, report };
    new EventRecorder(context, "kubelet").record(cluster.resource("pods"), pod, "Normal", "Started", "started");
    const event = { type: "Normal", reason: "Scheduled", action: "Binding", note: "assigned" } as const;
    new SchedulerEvents(context, "default-scheduler").record(pod, event);
    await failed.promise;
  };
  await recordBoth(notFound({ group: "", resource: "namespaces" }, "gone"));
  const broken = internalError("the store is broken");
  await recordBoth(broken);
  // The reports of the second error come after those of the first.
  await new Promise(setImmediate);
  assert.deepEqual(reported, [broken, broken]);
  await cluster.stop();
});
