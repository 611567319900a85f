import assert from "node:assert/strict";
import { suite, test } from "node:test";
import { isObject, type KubeObject } from "../../../base/api/object.ts";
import { pod, World } from "../admission.suite.ts";
import { defaultTolerationSeconds } from "./default-toleration-seconds.ts";
import { podTopologyLabels } from "./pod-topology-labels.ts";
import { priority } from "./priority.ts";
import { runtimeClass } from "./runtime-class.ts";
import { serviceAccount } from "./service-account.ts";
import { taintNodesByCondition } from "./taint-nodes-by-condition.ts";

const spec = (object: KubeObject | undefined) => (isObject(object?.spec) ? object.spec : {});

function object(kind: string, name: string, content: object = {}): KubeObject {
  return { kind, apiVersion: "v1", metadata: { name }, ...content };
}

suite("ServiceAccount", () => {
  async function judge(given: KubeObject, account: object = {}, name = "default") {
    const world = new World();
    const metadata = { name, namespace: "ns", ...("metadata" in account ? (account.metadata as object) : {}) };
    await world.given("serviceaccounts", { kind: "ServiceAccount", apiVersion: "v1", ...account, metadata });
    return world.judge(serviceAccount(world.access), { plural: "pods", object: given });
  }

  test("sets the default account and mounts its token in every container that mounts nothing there", async () => {
    const path = "/var/run/secrets/kubernetes.io/serviceaccount";
    const given = pod({
      containers: [
        { name: "a", image: "image" },
        { name: "b", image: "image", volumeMounts: [{ name: "own", mountPath: path }] },
      ],
      initContainers: [{ name: "i", image: "image" }],
    });
    const result = spec((await judge(given, { imagePullSecrets: [{ name: "pull" }] })).object);
    assert.equal(result.serviceAccountName, "default");
    assert.equal(result.serviceAccount, "default");
    assert.deepEqual(result.imagePullSecrets, [{ name: "pull" }]);
    const [volume] = result.volumes as { name: string; projected: { defaultMode: number; sources: object[] } }[];
    assert.match(volume?.name ?? "", /^kube-api-access-[bcdfghjklmnpqrstvwxz2456789]{5}$/);
    assert.deepEqual(
      volume?.projected.sources.map((source) => Object.keys(source)[0]),
      ["serviceAccountToken", "configMap", "downwardAPI"],
    );
    const mount = { name: volume?.name, readOnly: true, mountPath: path };
    const mounts = (list: unknown) => (list as { volumeMounts?: object[] }[]).map(({ volumeMounts }) => volumeMounts);
    assert.deepEqual(mounts(result.containers), [[mount], [{ name: "own", mountPath: path }]]);
    assert.deepEqual(mounts(result.initContainers), [[mount]]);
  });

  for (const [given, account, isMounted] of [
    [{}, {}, true],
    [{}, { automountServiceAccountToken: false }, false],
    [{ automountServiceAccountToken: true }, { automountServiceAccountToken: false }, true],
    [{ automountServiceAccountToken: false }, {}, false],
  ] as const) {
    test(`a token is ${isMounted ? "" : "not "}mounted for ${JSON.stringify([given, account])}`, async () => {
      const result = spec((await judge(pod(given), account)).object);
      assert.equal(Array.isArray(result.volumes), isMounted);
    });
  }

  test("rejects a pod with an unknown account", async () => {
    const { refusal } = await judge(pod({ serviceAccountName: "robot" }));
    const text = 'error looking up service account ns/robot: serviceaccount "robot" not found';
    assert.equal(refusal, `pods "p" is forbidden: ${text}`);
  });

  const secret = (name: string) => ({ valueFrom: { secretKeyRef: { name, key: "k" } }, name: "E" });
  const ending = "is not allowed because service account default does not reference that";
  const limited: readonly [given: object, text: string | undefined][] = [
    [{}, undefined],
    [{ volumes: [{ name: "v", secret: { secretName: "mine" } }] }, undefined],
    [{ volumes: [{ name: "v", secret: { secretName: "s" } }] }, `volume with secret.secretName="s" ${ending} secret`],
    [
      { containers: [{ name: "a", env: [secret("mine"), secret("s")] }] },
      `container a with envVar E referencing secret.secretName="s" ${ending} secret`,
    ],
    [
      { initContainers: [{ name: "i", envFrom: [{ secretRef: { name: "s" } }] }] },
      `init container i with envFrom referencing secret.secretName="s" ${ending} secret`,
    ],
    [{ imagePullSecrets: [{ name: "s" }] }, `imagePullSecrets[0].name="s" ${ending} imagePullSecret`],
  ];
  for (const [given, text] of limited) {
    test(`an account that limits secrets: ${text ?? JSON.stringify(given)}`, async () => {
      const metadata = { annotations: { "kubernetes.io/enforce-mountable-secrets": "true" } };
      const { refusal } = await judge(pod(given), { metadata, secrets: [{ name: "mine" }] });
      assert.equal(refusal, text && `pods "p" is forbidden: ${text}`);
    });
  }

  test("applies the limit to ephemeral containers, too", async () => {
    const world = new World();
    const metadata = { name: "x", namespace: "ns", annotations: { "kubernetes.io/enforce-mountable-secrets": "1" } };
    await world.given("serviceaccounts", { kind: "ServiceAccount", apiVersion: "v1", metadata });
    const given = pod({ serviceAccountName: "x", ephemeralContainers: [{ name: "e", env: [secret("s")] }] });
    const write = { plural: "pods", subresource: "ephemeralcontainers", object: given, previous: pod() };
    const { error } = await world.judge(serviceAccount(world.access), write);
    assert.match(error?.message ?? "", /^ephemeral container e with envVar E referencing secret.secretName="s" is not/);
    assert.equal(error?.code, 500);
  });

  const mirrors: readonly [given: object, text: string | undefined][] = [
    [{}, undefined],
    [{ serviceAccountName: "default" }, "a mirror pod may not reference service accounts"],
    [
      { volumes: [{ name: "v", csi: { nodePublishSecretRef: { name: "s" } } }] },
      "a mirror pod may not reference secrets",
    ],
    [
      { volumes: [{ name: "v", projected: { sources: [{ serviceAccountToken: { path: "t" } }] } }] },
      "a mirror pod may not use ServiceAccountToken volume projections",
    ],
  ];
  for (const [given, text] of mirrors) {
    test(`a mirror pod: ${text ?? "stays unchanged"}`, async () => {
      const mirror = pod(given, { annotations: { "kubernetes.io/config.mirror": "x" } });
      const before = structuredClone(mirror);
      const { refusal, object: after } = await judge(mirror);
      assert.equal(refusal, text && `pods "p" is forbidden: ${text}`);
      assert.deepEqual(after, before);
    });
  }
});

suite("Priority", () => {
  const classes = [
    object("PriorityClass", "high", { value: 1000, preemptionPolicy: "Never" }),
    object("PriorityClass", "normal", { value: 10, globalDefault: true }),
    object("PriorityClass", "lower", { value: 5, globalDefault: true }),
  ];
  async function judge(given: object, known: readonly KubeObject[] = classes) {
    const world = new World();
    for (const one of known) await world.given("priorityclasses", one, "scheduling.k8s.io");
    return world.judge(priority(world.access), { plural: "pods", object: pod(given) });
  }
  const chosen: readonly [given: object, known: readonly KubeObject[], expected: unknown[]][] = [
    [{}, [], [undefined, 0, "PreemptLowerPriority"]],
    [{}, classes, ["lower", 5, "PreemptLowerPriority"]],
    [{ priorityClassName: "high" }, classes, ["high", 1000, "Never"]],
    [{ priorityClassName: "high", priority: 1000, preemptionPolicy: "Never" }, classes, ["high", 1000, "Never"]],
  ];
  for (const [given, known, expected] of chosen) {
    test(`${JSON.stringify(given)} with ${known.length} classes`, async () => {
      const { priorityClassName, priority: value, preemptionPolicy } = spec((await judge(given, known)).object);
      assert.deepEqual([priorityClassName, value, preemptionPolicy], expected);
    });
  }
  const computed = "priority admission controller computed";
  const refusals: readonly [given: object, text: string][] = [
    [{ priorityClassName: "nix" }, "no PriorityClass with name nix was found"],
    [
      { priorityClassName: "high", priority: 1 },
      `the integer value of priority (1) must not be provided in pod spec; ${computed} 1000 from the given PriorityClass name`,
    ],
    [
      { priorityClassName: "high", preemptionPolicy: "X" },
      `the string value of PreemptionPolicy (X) must not be provided in pod spec; ${computed} Never from the given PriorityClass name`,
    ],
  ];
  for (const [given, text] of refusals) {
    test(text, async () => assert.equal((await judge(given)).refusal, `pods "p" is forbidden: ${text}`));
  }

  test("an update without the priority keeps it", async () => {
    const world = new World();
    const previous = pod({ priority: 7, preemptionPolicy: "Never" });
    const { object: next } = await world.judge(priority(world.access), { plural: "pods", object: pod(), previous });
    assert.deepEqual([spec(next).priority, spec(next).preemptionPolicy], [7, "Never"]);
  });

  test("sets the priority of a pod group, with its own messages", async () => {
    const world = new World();
    const group = (given: object) => ({
      ...object("PodGroup", "g"),
      metadata: { name: "g", namespace: "ns" },
      spec: { ...given },
    });
    const judgeGroup = (given: object) =>
      world.judge(priority(world.access), { group: "scheduling.k8s.io", plural: "podgroups", object: group(given) });
    assert.deepEqual(spec((await judgeGroup({})).object), { priority: 0 });
    const text =
      "priority set in the pod group (3) must match the priority computed (0) based on the priority class set in the spec";
    assert.equal((await judgeGroup({ priority: 3 })).refusal, `podgroups.scheduling.k8s.io "g" is forbidden: ${text}`);
  });

  test("allows only one default class", async () => {
    const world = new World();
    const [, normal] = classes;
    assert.ok(normal);
    await world.given("priorityclasses", normal, "scheduling.k8s.io");
    const judgeClass = (name: string, previous?: KubeObject) =>
      world.judge(priority(world.access), {
        group: "scheduling.k8s.io",
        plural: "priorityclasses",
        object: object("PriorityClass", name, { globalDefault: true }),
        previous,
      });
    const text = "PriorityClass normal is already marked as default. Only one default can exist";
    const refusal = `priorityclasses.scheduling.k8s.io "other" is forbidden: ${text}`;
    assert.equal((await judgeClass("other")).refusal, refusal);
    assert.equal((await judgeClass("other", normal)).refusal, refusal);
    assert.equal((await judgeClass("normal", normal)).refusal, undefined);
    assert.match((await judgeClass("normal")).refusal ?? "", /already marked/);
  });
});

suite("DefaultTolerationSeconds", () => {
  const added = (key: string) => ({
    key: `node.kubernetes.io/${key}`,
    operator: "Exists",
    effect: "NoExecute",
    tolerationSeconds: 300,
  });
  const cases: readonly [given: object[], keys: string[]][] = [
    [[], ["not-ready", "unreachable"]],
    [[{ operator: "Exists" }], []],
    [[{ key: "node.kubernetes.io/not-ready", operator: "Exists", effect: "NoExecute" }], ["unreachable"]],
    [[{ key: "node.kubernetes.io/unreachable", operator: "Exists" }], ["not-ready"]],
    [[{ operator: "Exists", effect: "NoSchedule" }], ["not-ready", "unreachable"]],
  ];
  for (const [tolerations, keys] of cases) {
    test(`${JSON.stringify(tolerations)} gets ${keys.join(", ") || "none"}`, async () => {
      const write = { plural: "pods", object: pod({ tolerations }) };
      const { object: result } = await new World().judge(defaultTolerationSeconds, write);
      assert.deepEqual(spec(result).tolerations, [...tolerations, ...keys.map(added)]);
    });
  }
});

suite("RuntimeClass", () => {
  const kind = object("RuntimeClass", "kata", {
    handler: "h",
    overhead: { podFixed: { cpu: "250m" } },
    scheduling: {
      nodeSelector: { a: "b" },
      tolerations: [
        { key: "x", operator: "Exists" },
        { key: "x", operator: "Equal", value: "y", effect: "NoSchedule" },
      ],
    },
  });
  async function judge(given: object) {
    const world = new World();
    await world.given("runtimeclasses", kind, "node.k8s.io");
    await world.given("runtimeclasses", object("RuntimeClass", "plain", { handler: "h" }), "node.k8s.io");
    return world.judge(runtimeClass(world.access), { plural: "pods", object: pod(given) });
  }

  test("sets overhead, node selector and tolerations of a pod", async () => {
    const tolerations = [
      { key: "x", operator: "Equal", value: "z" },
      { key: "q", operator: "Exists" },
    ];
    const { object: result } = await judge({ runtimeClassName: "kata", nodeSelector: { c: "d" }, tolerations });
    const { overhead, nodeSelector, tolerations: merged } = spec(result);
    assert.deepEqual(overhead, { cpu: "250m" });
    assert.deepEqual(nodeSelector, { a: "b", c: "d" });
    assert.deepEqual(merged, [
      { key: "q", operator: "Exists" },
      { key: "x", operator: "Exists" },
    ]);
  });

  const cases: readonly [given: object, text: string | undefined][] = [
    [{}, undefined],
    [{ runtimeClassName: "plain" }, undefined],
    [{ runtimeClassName: "kata", overhead: { cpu: "250m" } }, undefined],
    [{ runtimeClassName: "nix" }, 'pod rejected: RuntimeClass "nix" not found'],
    [
      { runtimeClassName: "kata", overhead: { cpu: "1" } },
      "pod rejected: Pod's Overhead doesn't match RuntimeClass's defined Overhead",
    ],
    [
      { runtimeClassName: "plain", overhead: { cpu: "1" } },
      "pod rejected: Pod Overhead set without corresponding RuntimeClass defined Overhead",
    ],
    [
      { runtimeClassName: "kata", nodeSelector: { a: "z" } },
      "conflict: runtimeClass.scheduling.nodeSelector[a] = b; pod.spec.nodeSelector[a] = z",
    ],
  ];
  for (const [given, text] of cases) {
    test(`${JSON.stringify(given)}: ${text ?? "fine"}`, async () => {
      assert.equal((await judge(given)).refusal, text && `pods "p" is forbidden: ${text}`);
    });
  }
});

suite("PodTopologyLabels", () => {
  const labels = { "topology.kubernetes.io/zone": "z", "topology.kubernetes.io/region": "r", other: "x" };

  test("copies labels of the node at creation and at binding", async () => {
    const world = new World();
    await world.given("nodes", { kind: "Node", apiVersion: "v1", metadata: { name: "n", labels } });
    const plugin = podTopologyLabels(world.access);
    const bound = pod({ nodeName: "n" }, { labels: { k: "v", "topology.kubernetes.io/zone": "mine" } });
    const { object: result } = await world.judge(plugin, { plural: "pods", object: bound });
    assert.deepEqual(result?.metadata.labels, {
      k: "v",
      "topology.kubernetes.io/zone": "z",
      "topology.kubernetes.io/region": "r",
    });
    const binding = (target: object) => ({ ...object("Binding", "p"), target: { ...target } });
    const bind = async (target: object) =>
      (await world.judge(plugin, { plural: "pods", subresource: "binding", object: binding(target) })).object?.metadata
        .labels;
    assert.deepEqual(Object.keys((await bind({ kind: "Node", name: "n" })) ?? {}).length, 2);
    assert.equal(await bind({ kind: "Other", name: "n" }), undefined);
    assert.equal(await bind({ kind: "Node", name: "missing" }), undefined);
  });
});

suite("TaintNodesByCondition", () => {
  const taint = { key: "node.kubernetes.io/not-ready", effect: "NoSchedule" };
  for (const [given, expected] of [
    [undefined, [taint]],
    [[taint], [taint]],
    [[{ key: taint.key, effect: "NoExecute" }], [{ key: taint.key, effect: "NoExecute" }, taint]],
  ] as const) {
    test(`a node with ${JSON.stringify(given)}`, async () => {
      const node = object("Node", "n", given ? { spec: { taints: [...given] } } : {});
      const { object: result } = await new World().judge(taintNodesByCondition, { plural: "nodes", object: node });
      assert.deepEqual(spec(result).taints, expected);
    });
  }
});
