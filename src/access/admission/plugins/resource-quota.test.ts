import assert from "node:assert/strict";
import { suite, test } from "node:test";
import { ApiError } from "../../../base/api/api-error.ts";
import { isObject, type KubeObject } from "../../../base/api/object.ts";
import { MemoryStore } from "../../../storage/memory.ts";
import { pod, type Verdict, World, type Write } from "../admission.suite.ts";
import { createTogether, quota } from "./resource-quota.suite.ts";
import { resourceQuota } from "./resource-quota.ts";

async function judge(quotas: readonly KubeObject[], write: Write): Promise<Verdict & { used: unknown[] }> {
  const world = new World();
  for (const one of quotas) await world.given("resourcequotas", one);
  const verdict = await world.judge(resourceQuota(world.access), write);
  const stored = await world.access.list("", "resourcequotas", "ns");
  return { ...verdict, used: stored.map(({ status }) => (isObject(status) ? status.used : undefined)) };
}

const asking = (requests: object, limits: object = {}, spec: object = {}) =>
  pod({ containers: [{ name: "a", image: "image", resources: { requests, limits } }], ...spec });

const charged: readonly [title: string, hard: object, write: Write, used: object][] = [
  [
    "pods and their resources",
    {
      pods: "5",
      "count/pods": "5",
      cpu: "10",
      "requests.memory": "10Gi",
      "limits.cpu": "10",
      "requests.example.com/gpu": "4",
    },
    { plural: "pods", object: asking({ cpu: "500m", memory: "1Gi", "example.com/gpu": "2" }, { cpu: "1" }) },
    {
      "count/pods": "1",
      cpu: "500m",
      "limits.cpu": "1",
      pods: "1",
      "requests.example.com/gpu": "2",
      "requests.memory": "1Gi",
    },
  ],
  [
    "init containers if they need more, with overhead",
    { "requests.cpu": "10", "limits.cpu": "10" },
    {
      plural: "pods",
      object: asking(
        { cpu: "1" },
        { cpu: "1" },
        {
          overhead: { cpu: "250m" },
          initContainers: [
            { name: "s", restartPolicy: "Always", resources: { requests: { cpu: "1" }, limits: { cpu: "1" } } },
            { name: "i", resources: { requests: { cpu: "3" }, limits: { cpu: "3" } } },
          ],
        },
      ),
    },
    { "limits.cpu": "4250m", "requests.cpu": "4250m" },
  ],
  [
    "a pod's own amounts instead of its containers'",
    { "requests.cpu": "10" },
    { plural: "pods", object: asking({ cpu: "1" }, {}, { resources: { requests: { cpu: "2" } } }) },
    { "requests.cpu": "2" },
  ],
  [
    "configmaps by both names",
    { configmaps: "5", "count/configmaps": "5" },
    { plural: "configmaps", object: thing("ConfigMap") },
    { configmaps: "1", "count/configmaps": "1" },
  ],
  [
    "kinds of other groups",
    { "count/deployments.apps": "5" },
    { group: "apps", plural: "deployments", object: thing("Deployment") },
    { "count/deployments.apps": "1" },
  ],
  [
    "LoadBalancer services, with a node port for each port",
    { services: "5", "services.loadbalancers": "5", "services.nodeports": "5" },
    { plural: "services", object: thing("Service", { type: "LoadBalancer", ports: [{ port: 1 }, { port: 2 }] }) },
    { services: "1", "services.loadbalancers": "1", "services.nodeports": "2" },
  ],
  [
    "only explicit node ports without allocateLoadBalancerNodePorts",
    { "services.nodeports": "5" },
    {
      plural: "services",
      object: thing("Service", {
        type: "LoadBalancer",
        allocateLoadBalancerNodePorts: false,
        ports: [{ port: 1, nodePort: 30000 }, { port: 2 }],
      }),
    },
    { "services.nodeports": "1" },
  ],
  [
    "claims and their storage, in total and by class",
    {
      persistentvolumeclaims: "5",
      "requests.storage": "10Gi",
      "gold.storageclass.storage.k8s.io/requests.storage": "10Gi",
      "gold.storageclass.storage.k8s.io/persistentvolumeclaims": "5",
      "lead.storageclass.storage.k8s.io/persistentvolumeclaims": "5",
    },
    { plural: "persistentvolumeclaims", object: claim("3Gi", { storageClassName: "gold" }) },
    {
      "gold.storageclass.storage.k8s.io/persistentvolumeclaims": "1",
      "gold.storageclass.storage.k8s.io/requests.storage": "3Gi",
      "lead.storageclass.storage.k8s.io/persistentvolumeclaims": "0",
      persistentvolumeclaims: "1",
      "requests.storage": "3Gi",
    },
  ],
  [
    "the maximum number of devices of a claim",
    { "count/resourceclaims.resource.k8s.io": "5", "gpu.deviceclass.resource.k8s.io/devices": "50" },
    {
      group: "resource.k8s.io",
      plural: "resourceclaims",
      object: thing("ResourceClaim", {
        devices: {
          requests: [
            { exactly: { deviceClassName: "gpu", allocationMode: "ExactCount", count: 2 } },
            {
              firstAvailable: [
                { deviceClassName: "gpu", allocationMode: "ExactCount", count: 3 },
                { deviceClassName: "gpu", allocationMode: "All" },
              ],
            },
          ],
        },
      }),
    },
    { "count/resourceclaims.resource.k8s.io": "1", "gpu.deviceclass.resource.k8s.io/devices": "34" },
  ],
  [
    "the difference of an update",
    { "requests.storage": "10Gi" },
    { plural: "persistentvolumeclaims", object: claim("3Gi"), previous: claim("1Gi") },
    { "requests.storage": "2Gi" },
  ],
  [
    "nothing for an update that reduces usage",
    { "requests.storage": "10Gi" },
    { plural: "persistentvolumeclaims", object: claim("1Gi"), previous: claim("3Gi") },
    { "requests.storage": "0" },
  ],
  [
    "nothing for a dry run",
    { configmaps: "1" },
    { plural: "configmaps", object: thing("ConfigMap"), dryRun: true },
    { configmaps: "0" },
  ],
  [
    "nothing for events",
    { "count/events": "0" },
    { plural: "events", object: thing("Event") },
    { "count/events": "0" },
  ],
  [
    "only the number of terminal pods",
    { "count/pods": "5", pods: "5" },
    { plural: "pods", object: { ...pod(), status: { phase: "Failed" } } },
    { "count/pods": "1", pods: "0" },
  ],
];

function thing(kind: string, spec: object = {}): KubeObject {
  return { kind, apiVersion: "v1", metadata: { name: "x", namespace: "ns" }, spec: { ...spec } };
}

function claim(storage: string, spec: object = {}): KubeObject {
  return thing("PersistentVolumeClaim", { resources: { requests: { storage } }, ...spec });
}

suite("a quota is charged with", () => {
  for (const [title, hard, write, used] of charged) {
    test(title, async () => {
      const verdict = await judge([quota("q", hard)], write);
      assert.equal(verdict.refusal, undefined);
      assert.deepEqual(verdict.used, [used]);
    });
  }
});

const refused: readonly [text: string, quotas: readonly KubeObject[], write: Write][] = [
  [
    "exceeded quota: q, requested: pods=1,requests.cpu=600m, used: pods=1,requests.cpu=500m, limited: pods=1,requests.cpu=1",
    [quota("q", { pods: "1", "requests.cpu": "1" }, { pods: "1", "requests.cpu": "500m" })],
    { plural: "pods", object: asking({ cpu: "600m" }) },
  ],
  [
    "failed quota: q: must specify limits.cpu for: a,i; requests.memory for: a",
    [quota("q", { "limits.cpu": "1", "requests.memory": "1Gi", "requests.ephemeral-storage": "1Gi" })],
    {
      plural: "pods",
      object: asking({}, {}, { initContainers: [{ name: "i", resources: { requests: { memory: "1" } } }] }),
    },
  ],
  [
    "status unknown for quota: q, resources: pods,requests.cpu",
    [quota("q", { pods: "1", "requests.cpu": "1", configmaps: "1" }, { pods: "0" })],
    { plural: "pods", object: asking({ cpu: "1" }) },
  ],
  [
    "exceeded quota: b, requested: configmaps=1, used: configmaps=1, limited: configmaps=1",
    [quota("a", { configmaps: "9" }), quota("b", { configmaps: "1" }, { configmaps: "1" })],
    { plural: "configmaps", object: thing("ConfigMap") },
  ],
];

suite("rejects a write:", () => {
  for (const [text, quotas, write] of refused) {
    test(text, async () => {
      const { refusal, error, used } = await judge(quotas, write);
      assert.equal(refusal, `${write.plural} "${write.object?.metadata.name}" is forbidden: ${text}`);
      assert.equal(error?.code, 403);
      const before = quotas.map(({ status }) => (isObject(status) ? status.used : undefined));
      assert.deepEqual(used, before, "nothing is charged");
    });
  }
});

const within: readonly [scope: string, spec: object, isCounted: boolean, object: KubeObject][] = [
  ["Terminating", {}, false, pod()],
  ["Terminating", {}, true, pod({ activeDeadlineSeconds: 0 })],
  ["NotTerminating", {}, true, pod()],
  ["BestEffort", {}, true, pod()],
  ["BestEffort", {}, false, asking({ cpu: "1" })],
  ["BestEffort", {}, true, asking({ cpu: "0", "example.com/x": "1" })],
  ["NotBestEffort", {}, true, asking({}, { memory: "1" })],
  ["PriorityClass", {}, true, pod({ priorityClassName: "high" })],
  ["PriorityClass", {}, false, pod()],
  ["PriorityClass", { operator: "In", values: ["high"] }, true, pod({ priorityClassName: "high" })],
  ["PriorityClass", { operator: "In", values: ["high"] }, false, pod({ priorityClassName: "low" })],
  ["PriorityClass", { operator: "NotIn", values: ["high"] }, true, pod()],
  ["PriorityClass", { operator: "DoesNotExist" }, true, pod()],
  ["PriorityClass", { operator: "DoesNotExist" }, false, pod({ priorityClassName: "low" })],
  ["CrossNamespacePodAffinity", {}, false, pod()],
  [
    "CrossNamespacePodAffinity",
    {},
    true,
    pod({
      affinity: {
        podAntiAffinity: {
          preferredDuringSchedulingIgnoredDuringExecution: [{ podAffinityTerm: { namespaceSelector: {} } }],
        },
      },
    }),
  ],
  ["VolumeAttributesClass", {}, false, pod()],
];

suite("scopes", () => {
  for (const [scopeName, selector, isCounted, object] of within) {
    test(`${scopeName} ${JSON.stringify(selector)} ${isCounted ? "matches" : "does not match"} ${JSON.stringify(object.spec)}`, async () => {
      const isPlain = Object.keys(selector).length === 0;
      const scoped = isPlain
        ? { scopes: [scopeName] }
        : { scopeSelector: { matchExpressions: [{ scopeName, ...selector }] } };
      const { used } = await judge([quota("q", { pods: "5" }, { pods: "0" }, scoped)], { plural: "pods", object });
      assert.deepEqual(used, [{ pods: isCounted ? "1" : "0" }]);
    });
  }

  test("a claim counts for its current and target attributes classes", async () => {
    const object = { ...claim("1Gi"), status: { currentVolumeAttributesClassName: "slow" } };
    const expressions = [{ scopeName: "VolumeAttributesClass", operator: "In", values: ["slow"] }];
    const scoped = { scopeSelector: { matchExpressions: expressions } };
    const limit = quota("q", { persistentvolumeclaims: "5" }, { persistentvolumeclaims: "0" }, scoped);
    const { used } = await judge([limit], { plural: "persistentvolumeclaims", object });
    assert.deepEqual(used, [{ persistentvolumeclaims: "1" }]);
  });

  test("a pod that moves into a scope adds all of its usage", async () => {
    const limit = quota("q", { pods: "5" }, { pods: "0" }, { scopes: ["Terminating"] });
    const write = { plural: "pods", object: pod({ activeDeadlineSeconds: 5 }), previous: pod() };
    assert.deepEqual((await judge([limit], write)).used, [{ pods: "1" }]);
  });
});

suite("concurrent writes", () => {
  test("32 writers create exactly as many objects as the quota allows", async () => {
    const {
      created,
      refused: others,
      used,
    } = await createTogether([new MemoryStore()], { writers: 32, each: 4, hard: 50 });
    assert.deepEqual({ created, others, used }, { created: 50, others: 78, used: "50" });
  });

  test("writers on several servers create exactly as many objects as the quota allows", async () => {
    const store = new MemoryStore();
    const { created, used } = await createTogether([store, store, store], { writers: 32, each: 3, hard: 37 });
    assert.deepEqual({ created, used }, { created: 37, used: "37" });
  });

  test("reverts the charge of one quota if another one rejects the write", async () => {
    const world = new World();
    const plugin = resourceQuota(world.access);
    await world.given("resourcequotas", quota("a", { configmaps: "9" }));
    await world.given("resourcequotas", quota("b", { configmaps: "1" }));
    const { access } = world;
    const update = access.update.bind(access);
    let isSlow = true;
    // Another server charges the second quota between the check of both and the charge.
    access.update = async (group, plural, key, change, options) => {
      if (key.name === "b" && isSlow) {
        isSlow = false;
        await world.given("resourcequotas", quota("b", { configmaps: "1" }, { configmaps: "1" }));
      }
      return update(group, plural, key, change, options);
    };
    const { refusal } = await world.judge(plugin, { plural: "configmaps", object: thing("ConfigMap") });
    assert.match(refusal ?? "", /exceeded quota: b/);
    const stored = await access.list("", "resourcequotas", "ns");
    assert.deepEqual(
      stored.map(({ status }) => (isObject(status) ? status.used : undefined)),
      [{ configmaps: "0" }, { configmaps: "1" }],
    );
  });

  test("rejects waiting writes if the store fails", async () => {
    const world = new World();
    await world.given("resourcequotas", quota("q", { configmaps: "9" }));
    world.access.update = async () => {
      throw new ApiError(500, { message: "broken" });
    };
    const { refusal } = await world.judge(resourceQuota(world.access), {
      plural: "configmaps",
      object: thing("ConfigMap"),
    });
    assert.equal(refusal, "broken");
  });
});
