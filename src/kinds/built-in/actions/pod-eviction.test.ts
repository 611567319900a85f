import assert from "node:assert/strict";
import { test } from "node:test";
import { ApiError, notFound } from "../../../base/api/api-error.ts";
import type { JsonObject, KubeObject } from "../../../base/api/object.ts";
import { cloneJson } from "../../../base/util/clone.ts";
import { ManualClock } from "../../../base/util/environment.suite.ts";
import type { ActionCall } from "../../../resources/model/actions.ts";
import type { ObjectAccess } from "../../../resources/model/definition.ts";
import { bindPod } from "./pod-binding.ts";
import { evictPod } from "./pod-eviction.ts";

/** One pod and some budgets, with a record of actions on them. */
function world(pod: JsonObject, budgets: readonly JsonObject[] = []) {
  const objects = new Map<string, KubeObject>();
  const put = (kind: string, object: JsonObject) => {
    const metadata = { name: "p", namespace: "n", generation: 1, ...(object.metadata as JsonObject) };
    objects.set(`${kind}/${metadata.name}`, { kind, apiVersion: "v1", ...object, metadata });
  };
  put("pods", { spec: { nodeName: "n" }, ...pod });
  for (const budget of budgets) put("poddisruptionbudgets", budget);
  const access = {
    clock: new ManualClock(0),
    find: async (_group: string, plural: string, { name }: { name: string }) => objects.get(`${plural}/${name}`),
    list: async (_group: string, plural: string) => [...objects.values()].filter(({ kind }) => kind === plural),
    async update(_group: string, plural: string, { name }: { name: string }, change: (one: KubeObject) => KubeObject) {
      const current = objects.get(`${plural}/${name}`);
      if (!current) throw notFound({ group: "", resource: plural }, name);
      const next = change(cloneJson(current));
      objects.set(`${plural}/${name}`, next);
      return next;
    },
    delete: async (_group: string, plural: string, { name }: { name: string }) =>
      void objects.delete(`${plural}/${name}`),
  } as unknown as ObjectAccess;
  const call = (body: JsonObject = {}): ActionCall => ({
    access,
    key: { namespace: "n", name: "p" },
    body: { kind: "", apiVersion: "", ...body, metadata: { name: "p", ...(body.metadata as JsonObject) } },
    dryRun: false,
    user: { name: "u", groups: [] },
    identities: {} as ActionCall["identities"],
    warn: assert.fail,
  });
  return { objects, call };
}

const running = {
  metadata: { labels: { app: "a" } },
  status: { phase: "Running", conditions: [{ type: "Ready", status: "True" }] },
};
const budget = (status: JsonObject, name = "b") => ({
  metadata: { name },
  spec: { selector: { matchLabels: { app: "a" } } },
  status: { observedGeneration: 1, ...status },
});

async function refusalOf(promise: Promise<unknown>): Promise<[code: number, cause: unknown]> {
  try {
    await promise;
  } catch (error) {
    if (error instanceof ApiError) return [error.code, error.status.details?.causes?.[0]?.message ?? error.message];
    throw error;
  }
  return [201, undefined];
}

test("a budget allows one disruption after the other", async () => {
  const { objects, call } = world(running, [budget({ disruptionsAllowed: 1, currentHealthy: 2, desiredHealthy: 1 })]);
  assert.deepEqual(await refusalOf(evictPod(call())), [201, undefined]);
  assert.equal(objects.has("pods/p"), false);
  assert.deepEqual(objects.get("poddisruptionbudgets/b")?.status, {
    observedGeneration: 1,
    disruptionsAllowed: 0,
    currentHealthy: 2,
    desiredHealthy: 1,
    conditions: [
      {
        type: "DisruptionAllowed",
        status: "False",
        observedGeneration: 1,
        lastTransitionTime: "1970-01-01T00:00:00Z",
        reason: "InsufficientPods",
        message: "",
      },
    ],
    disruptedPods: { p: "1970-01-01T00:00:00Z" },
  });
});

test("rejects evictions", async () => {
  const none = { disruptionsAllowed: 0, currentHealthy: 1, desiredHealthy: 1 };
  const cases: readonly [JsonObject[], number, string][] = [
    [
      [budget({ ...none, observedGeneration: 0 })],
      429,
      "The disruption budget b is still being processed by the server.",
    ],
    [[budget(none)], 429, "The disruption budget b needs 1 healthy pods and has 1 currently"],
    [[budget({ ...none, currentHealthy: 2 })], 429, "The disruption budget b does not allow evicting pods currently"],
    [
      [budget({ disruptionsAllowed: -1 })],
      403,
      "The disruption budget b does not allow evicting pods currently: pdb disruptions allowed is negative",
    ],
    [
      [budget(none), budget(none, "c")],
      500,
      "This pod has more than one PodDisruptionBudget, which the eviction subresource does not support.",
    ],
  ];
  for (const [budgets, code, text] of cases) {
    const { objects, call } = world(running, budgets);
    assert.deepEqual(await refusalOf(evictPod(call())), [code, text]);
    assert.ok(objects.has("pods/p"));
  }
});

test("ignores budgets for pods that do not run, or that may be evicted while not ready", async () => {
  const none = budget({ disruptionsAllowed: 0, currentHealthy: 0, desiredHealthy: 1 });
  const labels = { labels: { app: "a" } };
  for (const phase of ["Pending", "Succeeded", "Failed"]) {
    const { objects, call } = world({ metadata: labels, status: { phase } }, [none]);
    await evictPod(call());
    assert.equal(objects.has("pods/p"), false);
  }
  const lenient = { ...none, spec: { ...none.spec, unhealthyPodEvictionPolicy: "AlwaysAllow" } };
  const { objects, call } = world({ metadata: labels, status: { phase: "Running" } }, [lenient]);
  await evictPod(call());
  assert.equal(objects.has("pods/p"), false);
});

test("a pod is bound once, and not while it has scheduling gates", async () => {
  const target = { kind: "Node", name: "node" };
  const metadata = { annotations: { a: "b" } };
  const { objects, call } = world({ spec: {}, status: { nominatedNodeName: "x" } });
  await bindPod(call({ target, metadata }));
  assert.deepEqual(objects.get("pods/p"), {
    kind: "pods",
    apiVersion: "v1",
    metadata: { name: "p", namespace: "n", generation: 1, annotations: { a: "b" } },
    spec: { nodeName: "node" },
    status: {
      conditions: [
        { type: "PodScheduled", status: "True", lastProbeTime: null, lastTransitionTime: "1970-01-01T00:00:00Z" },
      ],
    },
  });
  assert.equal((await refusalOf(bindPod(call({ target }))))[0], 409);
  const gated = world({ spec: { schedulingGates: [{ name: "g" }] } });
  assert.equal((await refusalOf(bindPod(gated.call({ target }))))[0], 409);
  assert.deepEqual(await refusalOf(bindPod(call({ target: {} }))), [500, "target.name: Required value"]);
});
