import assert from "node:assert/strict";
import { test } from "node:test";
import { pod, World } from "../admission.suite.ts";
import { limitRanger } from "./limit-ranger.ts";

function limits(...items: object[]) {
  return {
    kind: "LimitRange",
    apiVersion: "v1",
    metadata: { name: "l", namespace: "ns" },
    spec: { limits: items as never[] },
  };
}

const withAmounts = (resources: object, extra: object = {}) =>
  pod({ containers: [{ name: "a", image: "image", resources }], ...extra });

test("sets default requests and limits of containers, and an annotation", async () => {
  const world = new World();
  await world.given(
    "limitranges",
    limits({ type: "Container", default: { cpu: "500m", memory: "256Mi" }, defaultRequest: { cpu: "100m" } }),
  );
  const given = pod({
    containers: [
      { name: "a", image: "image" },
      { name: "b", image: "image", resources: { requests: { cpu: "1" }, limits: { cpu: "1", memory: "1Gi" } } },
    ],
    initContainers: [{ name: "i", image: "image" }],
  });
  const { object, refusal } = await world.judge(limitRanger(world.access), { plural: "pods", object: given });
  assert.equal(refusal, undefined);
  const filled = { limits: { cpu: "500m", memory: "256Mi" }, requests: { cpu: "100m" } };
  assert.deepEqual(object?.spec, {
    containers: [
      { name: "a", image: "image", resources: filled },
      { name: "b", image: "image", resources: { requests: { cpu: "1" }, limits: { cpu: "1", memory: "1Gi" } } },
    ],
    initContainers: [{ name: "i", image: "image", resources: filled }],
  });
  assert.deepEqual(object?.metadata.annotations, {
    "kubernetes.io/limit-ranger":
      "LimitRanger plugin set: cpu request for container a; cpu, memory limit for container a; cpu request for init container i; cpu, memory limit for init container i",
  });
});

const refusals: readonly [text: string, item: object, object: ReturnType<typeof pod>][] = [
  [
    "minimum cpu usage per Container is 100m, but request is 50m",
    { type: "Container", min: { cpu: "100m" } },
    withAmounts({ requests: { cpu: "50m" } }),
  ],
  [
    "minimum cpu usage per Container is 100m.  No request is specified",
    { type: "Container", min: { cpu: "100m" } },
    withAmounts({}),
  ],
  [
    "minimum memory usage per Container is 1Gi, but limit is 512Mi",
    { type: "Container", min: { memory: "1Gi" } },
    withAmounts({ requests: { memory: "1Gi" }, limits: { memory: "512Mi" } }),
  ],
  [
    "maximum cpu usage per Container is 1, but limit is 2",
    { type: "Container", max: { cpu: "1" } },
    withAmounts({ limits: { cpu: "2" } }),
  ],
  [
    "maximum cpu usage per Container is 1.  No limit is specified",
    { type: "Container", max: { cpu: "1" } },
    withAmounts({}),
  ],
  [
    "maximum cpu usage per Container is 1, but request is 2",
    { type: "Container", max: { cpu: "1" } },
    withAmounts({ limits: { cpu: "1" }, requests: { cpu: "2" } }),
  ],
  [
    "cpu max limit to request ratio per Container is 10, but provided ratio is 18.000000",
    { type: "Container", maxLimitRequestRatio: { cpu: "10" } },
    withAmounts({ limits: { cpu: "900m" }, requests: { cpu: "50m" } }),
  ],
  [
    "cpu max limit to request ratio per Container is 1500m, but no limit is specified or limit is 0",
    { type: "Container", maxLimitRequestRatio: { cpu: "1500m" } },
    withAmounts({ requests: { cpu: "50m" } }),
  ],
  [
    "cpu max limit to request ratio per Container is 2, but no request is specified or request is 0",
    { type: "Container", maxLimitRequestRatio: { cpu: "2" } },
    withAmounts({ limits: { cpu: "50m" } }),
  ],
  [
    "[minimum cpu usage per Container is 2, but request is 1, maximum memory usage per Container is 1Gi.  No limit is specified]",
    { type: "Container", min: { cpu: "2" }, max: { memory: "1Gi" } },
    pod({
      containers: [
        { name: "a", image: "image", resources: { requests: { cpu: "1" } } },
        { name: "b", image: "image", resources: { requests: { cpu: "1" } } },
      ],
    }),
  ],
  [
    "maximum memory usage per Pod is 1Gi, but limit is 1600Mi",
    { type: "Pod", max: { memory: "1Gi" } },
    pod({
      containers: ["a", "b"].map((name) => ({ name, image: "image", resources: { limits: { memory: "800Mi" } } })),
    }),
  ],
  [
    "maximum cpu usage per Pod is 2, but limit is 3",
    { type: "Pod", max: { cpu: "2" } },
    withAmounts(
      { limits: { cpu: "1" } },
      { initContainers: [{ name: "s", image: "image", restartPolicy: "Always", resources: { limits: { cpu: "2" } } }] },
    ),
  ],
  [
    "maximum cpu usage per Pod is 2, but limit is 4",
    { type: "Pod", max: { cpu: "2" } },
    withAmounts({ limits: { cpu: "1" } }, { resources: { limits: { cpu: "4" } } }),
  ],
];

for (const [text, item, object] of refusals) {
  test(text, async () => {
    const world = new World();
    await world.given("limitranges", limits(item));
    const { refusal, error } = await world.judge(limitRanger(world.access), { plural: "pods", object });
    assert.equal(refusal, `pods "p" is forbidden: ${text}`);
    assert.equal(error?.code, 403);
  });
}

test("checks the requests of a claim", async () => {
  const world = new World();
  await world.given(
    "limitranges",
    limits({ type: "PersistentVolumeClaim", min: { storage: "1Gi" }, max: { storage: "2Gi" } }),
  );
  const claim = (storage?: string) => ({
    kind: "PersistentVolumeClaim",
    apiVersion: "v1",
    metadata: { name: "c", namespace: "ns" },
    spec: { resources: { requests: storage === undefined ? {} : { storage } } },
  });
  const judge = async (storage?: string) =>
    (await world.judge(limitRanger(world.access), { plural: "persistentvolumeclaims", object: claim(storage) }))
      .refusal;
  assert.equal(await judge("1536Mi"), undefined);
  assert.match(
    (await judge("3Gi")) ?? "",
    /maximum storage usage per PersistentVolumeClaim is 2Gi, but request is 3Gi$/,
  );
  assert.match(
    (await judge("1Mi")) ?? "",
    /minimum storage usage per PersistentVolumeClaim is 1Gi, but request is 1Mi$/,
  );
});

test("checks only updates that resize a pod, unless it is being deleted", async () => {
  const world = new World();
  await world.given("limitranges", limits({ type: "Container", max: { cpu: "1" } }));
  const plugin = limitRanger(world.access);
  const large = withAmounts({ limits: { cpu: "2" } });
  const judge = async (subresource: string, metadata: object = {}) =>
    (await world.judge(plugin, { plural: "pods", subresource, object: large, previous: pod({}, metadata) })).refusal;
  assert.equal(await judge(""), undefined);
  assert.match((await judge("resize")) ?? "", /maximum cpu usage/);
  assert.equal(await judge("resize", { deletionTimestamp: "2026-01-01T00:00:00Z" }), undefined);
});
