import assert from "node:assert/strict";
import { afterEach, beforeEach, suite, test } from "node:test";
import { isObject, type JsonObject } from "../../../../base/api/object.ts";
import { ManualClock } from "../../../../base/util/environment.suite.ts";
import type { ControllerRevision, DaemonSet, Pod } from "../../../../kinds/types/workloads.ts";
import { until } from "../../shared/controllers.suite.ts";
import { WorkloadCluster, workload } from "../workloads.suite.ts";
import { daemonSets } from "./daemonset.ts";

/** Of the template that `workload` has. */
const HASH = "55f589b4d6";

suite("daemonset-controller", () => {
  let cluster: WorkloadCluster;

  beforeEach(() => {
    cluster = new WorkloadCluster();
  });
  afterEach(() => cluster.end());

  const addNode = (name: string, taints: JsonObject[] = [], labels: Record<string, string> = {}) =>
    cluster.create("nodes", name, { content: { metadata: { name, labels }, spec: { taints } } });
  const addNodes = async (...names: string[]) => {
    for (const name of names) await addNode(name);
  };
  /** Resolves when the controller knows the change. */
  const changeNode = async (name: string, patch: JsonObject) => {
    const written = await cluster.client.patch(cluster.resource("nodes"), { namespace: "", name }, patch);
    await cluster.informers.of("", "nodes").informer.sees(written.metadata.resourceVersion);
  };
  /** Starts the controller with a DaemonSet and the objects that a test has created before. */
  const create = async (more: JsonObject = {}, pod: JsonObject = {}) => {
    const spec = workload("nginx:1", more);
    if (isObject(spec.template) && isObject(spec.template.spec)) Object.assign(spec.template.spec, pod);
    const set = await cluster.post("daemonsets", "web", spec);
    cluster.start(daemonSets(cluster));
    return set;
  };
  const change = (spec: JsonObject) => cluster.patch("daemonsets", "web", { spec });
  const setImage = (image: string) => change({ template: { spec: { containers: [{ name: "main", image }] } } });
  const web = async () => (await cluster.find("daemonsets", "web")) as DaemonSet;
  const status = async () => (await web()).status ?? {};
  const nodeOf = ({ spec }: Pod) =>
    spec?.affinity?.nodeAffinity?.requiredDuringSchedulingIgnoredDuringExecution?.nodeSelectorTerms?.[0]
      ?.matchFields?.[0]?.values?.[0];
  /** The images of Pods by node. */
  const images = async () =>
    (await cluster.pods()).map((pod) => `${nodeOf(pod)} ${pod.spec?.containers?.[0]?.image}`).sort();
  const runsOn = (...nodes: string[]) =>
    until(async () => (await cluster.pods()).map(nodeOf).sort().join() === nodes.join());
  const podOn = async (node: string) => (await cluster.pods()).find((pod) => nodeOf(pod) === node)?.metadata.name ?? "";
  const counts = (expected: JsonObject) =>
    until(async () => {
      const { metadata, status: now = {} } = await web();
      const isSeen = now.observedGeneration === metadata.generation;
      return isSeen && Object.entries(expected).every(([member, count]) => (now[member] ?? 0) === count);
    });
  /** Makes Pods ready until each node has one with the template of the spec. */
  const complete = () =>
    cluster.untilReady(async () => {
      const { metadata, status: now = {} } = await web();
      const { desiredNumberScheduled, updatedNumberScheduled, numberAvailable, observedGeneration } = now;
      const isEnough = [updatedNumberScheduled, numberAvailable].every((count) => count === desiredNumberScheduled);
      return isEnough && observedGeneration === metadata.generation;
    });
  const revisions = () => cluster.list<ControllerRevision>("controllerrevisions");
  const numbers = async () => (await revisions()).map(({ revision }) => revision).sort();
  const hasEvent = (message: string) => until(async () => (await cluster.events("web")).includes(message));

  test("creates a Pod with its node affinity, tolerations and revision", async () => {
    await addNode("a");
    const set = await create();
    await complete();
    const [pod] = await cluster.pods();
    const [revision] = await revisions();
    const { uid = "" } = set.metadata;
    const controller = { apiVersion: "apps/v1", kind: "DaemonSet", name: "web", uid, controller: true };
    const ownerReferences = [{ ...controller, blockOwnerDeletion: true }];
    assert.match(pod?.metadata.name ?? "", /^web-[a-z0-9]{5}$/);
    assert.deepEqual(pod?.metadata.labels, {
      app: "web",
      "controller-revision-hash": HASH,
      "pod-template-generation": "1",
    });
    assert.deepEqual(pod?.metadata.ownerReferences, ownerReferences);
    assert.deepEqual(pod?.spec?.affinity, {
      nodeAffinity: {
        requiredDuringSchedulingIgnoredDuringExecution: {
          nodeSelectorTerms: [{ matchFields: [{ key: "metadata.name", operator: "In", values: ["a"] }] }],
        },
      },
    });
    assert.deepEqual(
      pod?.spec?.tolerations?.map(({ key, operator, effect }) => [key, operator, effect]),
      [
        ["node.kubernetes.io/not-ready", "Exists", "NoExecute"],
        ["node.kubernetes.io/unreachable", "Exists", "NoExecute"],
        ["node.kubernetes.io/disk-pressure", "Exists", "NoSchedule"],
        ["node.kubernetes.io/memory-pressure", "Exists", "NoSchedule"],
        ["node.kubernetes.io/pid-pressure", "Exists", "NoSchedule"],
        ["node.kubernetes.io/unschedulable", "Exists", "NoSchedule"],
      ],
    );
    assert.equal(revision?.metadata.name, `web-${HASH}`);
    assert.deepEqual(revision?.metadata.labels, { app: "web", "controller-revision-hash": HASH });
    assert.deepEqual(revision?.metadata.annotations, { "deprecated.daemonset.template.generation": "1" });
    assert.deepEqual(revision?.metadata.ownerReferences, ownerReferences);
    assert.equal(revision?.revision, 1);
    assert.deepEqual(await status(), {
      currentNumberScheduled: 1,
      numberMisscheduled: 0,
      desiredNumberScheduled: 1,
      numberReady: 1,
      observedGeneration: 1,
      updatedNumberScheduled: 1,
      numberAvailable: 1,
    });
    await hasEvent(`Created pod: ${pod?.metadata.name}`);
  });

  test("follows new nodes, labels and taints", async () => {
    await addNode("a", [], { zone: "x" });
    await addNode("b");
    await create({}, { nodeSelector: { zone: "x" } });
    await runsOn("a");
    await changeNode("b", { metadata: { labels: { zone: "x" } } });
    await runsOn("a", "b");
    await addNode("c", [{ key: "node.kubernetes.io/unschedulable", effect: "NoSchedule" }], { zone: "x" });
    await runsOn("a", "b", "c");
    await changeNode("a", { metadata: { labels: { zone: "y" } } });
    await runsOn("b", "c");
  });

  test("keeps a running Pod on a node with the taint NoSchedule, but not with NoExecute", async () => {
    await addNodes("a", "b");
    await create({}, { terminationGracePeriodSeconds: 0 });
    await complete();
    for (const pod of await cluster.pods()) {
      await cluster.rewrite("pods", pod.metadata.name ?? "", ({ spec }) => {
        if (isObject(spec)) spec.nodeName = nodeOf(pod) ?? "";
      });
    }
    await changeNode("a", { spec: { taints: [{ key: "k", effect: "NoSchedule" }] } });
    await change({ minReadySeconds: 0, revisionHistoryLimit: 5 });
    await counts({ numberMisscheduled: 1, desiredNumberScheduled: 1 });
    await runsOn("a", "b");
    await changeNode("a", { spec: { taints: [] } });
    await counts({ numberMisscheduled: 0, desiredNumberScheduled: 2 });
    await changeNode("a", { spec: { taints: [{ key: "k", effect: "NoExecute" }] } });
    await runsOn("b");
    await changeNode("a", { spec: { taints: [] } });
    await runsOn("a", "b");
  });

  test("deletes Pods that wait for a node that is gone", async () => {
    await addNodes("a", "b");
    await create();
    await runsOn("a", "b");
    await cluster.delete("nodes", "b", {}, "");
    await setImage("nginx:2");
    await until(async () => (await images()).join() === "a nginx:2");
  });

  for (const [maxUnavailable, replaced] of [
    [1, 1],
    ["34%", 2],
  ] as const) {
    test(`replaces ${replaced} of 3 Pods at once with maxUnavailable ${maxUnavailable}`, async () => {
      await addNodes("a", "b", "c");
      await create({ updateStrategy: { rollingUpdate: { maxUnavailable } } });
      await complete();
      await setImage("nginx:2");
      await counts({ updatedNumberScheduled: replaced, currentNumberScheduled: 3 });
      await complete();
      assert.deepEqual(await images(), ["a nginx:2", "b nginx:2", "c nginx:2"]);
    });
  }

  test("replaces unavailable Pods at once", async () => {
    await addNodes("a", "b", "c");
    await create();
    await runsOn("a", "b", "c");
    await setImage("nginx:2");
    await until(async () => (await images()).join() === "a nginx:2,b nginx:2,c nginx:2");
  });

  test("creates new Pods beside old ones with maxSurge", async () => {
    await addNodes("a", "b");
    await create({ updateStrategy: { rollingUpdate: { maxSurge: 1, maxUnavailable: 0 } } });
    await complete();
    await setImage("nginx:2");
    await until(async () => (await cluster.pods()).length === 3);
    assert.equal((await images()).filter((one) => one.endsWith("nginx:1")).length, 2);
    await complete();
    await until(async () => (await images()).join() === "a nginx:2,b nginx:2");
  });

  test("deletes the old Pod when the new one becomes available, without another change", async () => {
    await addNodes("a");
    await create({ minReadySeconds: 1, updateStrategy: { rollingUpdate: { maxSurge: 1, maxUnavailable: 0 } } });
    await complete();
    await setImage("nginx:2");
    await until(async () => (await images()).join() === "a nginx:1,a nginx:2");
    await cluster.makeReady();
    await until(async () => (await images()).join() === "a nginx:2");
  });

  test("keeps a Pod that must leave its node until another is available, with maxSurge", async () => {
    const full = [{ key: "full", effect: "NoSchedule" }];
    await addNode("a");
    await addNode("b", full);
    await create({ updateStrategy: { rollingUpdate: { maxSurge: 1, maxUnavailable: 0 } } });
    await complete();
    await changeNode("a", { spec: { taints: full } });
    await changeNode("b", { spec: { taints: [] } });
    await setImage("nginx:2");
    await until(async () => (await images()).join() === "a nginx:1,b nginx:2");
    await counts({ numberMisscheduled: 1, desiredNumberScheduled: 1, numberReady: 0 });
    await cluster.makeReady();
    await runsOn("b");
  });

  test("updates only deleted Pods with the strategy OnDelete", async () => {
    await addNodes("a", "b");
    await create({ updateStrategy: { type: "OnDelete" } });
    await complete();
    await setImage("nginx:2");
    await counts({ updatedNumberScheduled: 0 });
    await cluster.delete("pods", await podOn("a"));
    await until(async () => (await images()).join() === "a nginx:2,b nginx:1");
  });

  test("replaces Pods that have failed or succeeded, and waits before the next failed one", async () => {
    await addNodes("a");
    await create();
    await complete();
    const first = await podOn("a");
    await cluster.setPod(first, "Failed");
    await hasEvent(`Found failed daemon pod default/${first} on node a, will try to kill it`);
    await until(async () => ![first, ""].includes(await podOn("a")));
    const second = await podOn("a");
    await cluster.setPod(second, "Succeeded");
    await hasEvent(`Found succeeded daemon pod default/${second} on node a, will try to delete it`);
    await until(async () => ![second, ""].includes(await podOn("a")));
    const third = await podOn("a");
    await cluster.setPod(third, "Failed");
    await counts({ numberReady: 0 });
    assert.equal(await podOn("a"), third);
    await until(async () => ![third, ""].includes(await podOn("a")));
  });

  test("deletes all but the oldest Pod of a node", async () => {
    await addNodes("a");
    await create();
    await complete();
    const [pod] = await cluster.pods();
    const { labels = {} } = pod?.metadata ?? {};
    await cluster.post("pods", "web-zzzzzz", structuredClone(pod?.spec ?? {}), { labels });
    await hasEvent("Deleted pod: web-zzzzzz");
  });

  test("adopts orphans, and releases Pods that no longer match", async () => {
    await addNodes("a");
    const { template } = workload("nginx:1");
    assert.ok(isObject(template) && isObject(template.spec));
    const labels = { app: "web", "controller-revision-hash": HASH };
    await cluster.post("pods", "orphan", { ...template.spec, nodeName: "a" }, { labels });
    await create();
    await counts({ currentNumberScheduled: 1, updatedNumberScheduled: 1 });
    assert.equal((await cluster.find("pods", "orphan"))?.metadata.ownerReferences?.[0]?.name, "web");
    await cluster.patch("pods", "orphan", { metadata: { labels: { app: "other" } } });
    await until(async () => (await cluster.pods()).length === 2);
    assert.equal((await cluster.find("pods", "orphan"))?.metadata.ownerReferences, undefined);
  });

  test("gives an old revision a new number when its template returns", async () => {
    await addNodes("a");
    await create();
    for (const image of ["nginx:2", "nginx:1"]) {
      await complete();
      await setImage(image);
    }
    await complete();
    assert.deepEqual(await numbers(), [2, 3]);
  });

  test("keeps as many old revisions as revisionHistoryLimit", async () => {
    await addNodes("a");
    await create({ revisionHistoryLimit: 1 });
    for (const image of ["nginx:2", "nginx:3", "nginx:4"]) {
      await complete();
      await setImage(image);
    }
    await complete();
    await until(async () => (await numbers()).join() === "3,4");
  });

  test("takes another name for a revision if one with other data has it", async () => {
    await addNodes("a");
    await cluster.create("controllerrevisions", `web-${HASH}`, { content: { data: {}, revision: 1 } });
    await create();
    await complete();
    assert.equal((await status()).collisionCount, 1);
    const [pod] = await cluster.pods();
    assert.notEqual(pod?.metadata.labels?.["controller-revision-hash"], HASH);
  });

  test("keeps the highest of several revisions with the same data, and relabels Pods", async () => {
    await addNodes("a");
    await create();
    await complete();
    const [revision] = await revisions();
    const { data = {} } = revision ?? {};
    const labels = { app: "web" };
    const metadata = { name: "copy", namespace: "default", labels };
    await cluster.create("controllerrevisions", "copy", { content: { metadata, data, revision: 7 } });
    await until(async () => (await revisions()).length === 1);
    const [kept] = await revisions();
    assert.equal(kept?.metadata.name, "copy");
    assert.deepEqual(kept?.metadata.labels, { app: "web", "controller-revision-hash": "copy" });
    const [pod] = await cluster.pods();
    assert.equal(pod?.metadata.labels?.["controller-revision-hash"], "copy");
  });

  test("counts a Pod as available after minReadySeconds, without another change", async () => {
    const clock = new ManualClock();
    cluster = new WorkloadCluster(undefined, { clock });
    await addNodes("a");
    await create({ minReadySeconds: 10 });
    await counts({ currentNumberScheduled: 1 });
    await cluster.makeReady();
    await counts({ numberReady: 1, numberUnavailable: 1 });
    await clock.advance(10_000);
    await counts({ numberAvailable: 1, numberUnavailable: 0 });
  });

  test("warns about a stored DaemonSet with an empty selector", async () => {
    await create();
    await cluster.rewrite("daemonsets", "web", ({ spec }) => {
      if (isObject(spec)) spec.selector = {};
    });
    await hasEvent("This daemon set is selecting all pods. A non-empty selector is required.");
  });

  test("does nothing for a DaemonSet that is being deleted", async () => {
    await addNodes("a");
    await create();
    await complete();
    await cluster.delete("daemonsets", "web", { propagationPolicy: "Foreground" });
    await cluster.delete("pods", await podOn("a"));
    await addNode("b");
    await cluster.post("daemonsets", "other", { ...workload("nginx:1") });
    await until(async () => (await cluster.pods()).length === 2);
    const owners = (await cluster.pods()).map(({ metadata }) => metadata.ownerReferences?.[0]?.name);
    assert.deepEqual(owners, ["other", "other"]);
  });
});
