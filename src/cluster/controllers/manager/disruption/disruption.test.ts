import assert from "node:assert/strict";
import { afterEach, beforeEach, suite, test } from "node:test";
import type { JsonObject, KubeObject } from "../../../../base/api/object.ts";
import { ManualClock } from "../../../../base/util/environment.suite.ts";
import { ownedBy, until } from "../../shared/controllers.suite.ts";
import { ServiceCluster } from "../services.suite.ts";
import { statefulSets } from "../statefulset/statefulset.ts";
import { workload } from "../workloads.suite.ts";
import type { BudgetStatus, DisruptionBudget } from "./budget-types.ts";
import { disruption } from "./disruption.ts";

suite("disruption-controller", () => {
  let cluster: ServiceCluster;

  beforeEach(async () => {
    cluster = new ServiceCluster();
    await cluster.prepare();
    cluster.start(disruption(cluster));
  });
  afterEach(() => cluster.end());

  const addBudget = (spec: JsonObject) =>
    cluster.post("poddisruptionbudgets", "web", { selector: { matchLabels: { app: "web" } }, ...spec });
  const status = async () =>
    ((await cluster.find("poddisruptionbudgets", "web")) as DisruptionBudget | undefined)?.status;
  const has = (wanted: Partial<BudgetStatus>) =>
    until(async () => {
      const found = (await status()) ?? {};
      return Object.entries(wanted).every(([name, value]) => found[name] === value);
    });
  /** Pods of a ReplicaSet that wants `replicas`. */
  const addPods = async (replicas: number, ...ready: boolean[]) => {
    const set = await cluster.post("replicasets", "web", workload("nginx", { replicas }));
    for (const [index, isReady] of ready.entries()) await addPod(set, `pod-${index}`, isReady);
    return set;
  };
  const addPod = (owner: KubeObject, name: string, isReady: boolean) => {
    const ownerReferences = [{ ...ownedBy(owner), controller: true }];
    return cluster.addPod(name, "10.0.0.1", { isReady, metadata: { ownerReferences } });
  };

  test("counts healthy Pods against an integer", async () => {
    await addBudget({ minAvailable: 1 });
    await has({ disruptionsAllowed: 0, expectedPods: 0, desiredHealthy: 1, observedGeneration: 1 });
    await addPods(3, true, true, false);
    await has({ disruptionsAllowed: 1, currentHealthy: 2, desiredHealthy: 1, expectedPods: 3 });
    const [condition] = (await status())?.conditions ?? [];
    const { lastTransitionTime: _, ...rest } = condition ?? {};
    const type = "DisruptionAllowed";
    assert.deepEqual(rest, { type, status: "True", reason: "SufficientPods", message: "", observedGeneration: 1 });
    await cluster.setReady("pod-0", false);
    await has({ disruptionsAllowed: 0, currentHealthy: 1 });
    assert.equal((await status())?.conditions?.[0]?.reason, "InsufficientPods");
  });

  test("takes percentages and maxUnavailable of the wanted number of Pods", async () => {
    await addPods(5, true, true, true);
    await addBudget({ minAvailable: "50%" });
    await has({ expectedPods: 5, desiredHealthy: 3, currentHealthy: 3, disruptionsAllowed: 0 });
    await cluster.patch("poddisruptionbudgets", "web", { spec: { minAvailable: null, maxUnavailable: "41%" } });
    await has({ expectedPods: 5, desiredHealthy: 2, disruptionsAllowed: 1, observedGeneration: 2 });
    await cluster.patch("poddisruptionbudgets", "web", { spec: { maxUnavailable: 7 } });
    await has({ desiredHealthy: 0, disruptionsAllowed: 3 });
  });

  test("counts Pods of a Deployment by its size", async () => {
    const deployment = await cluster.post("deployments", "web", workload("nginx", { replicas: 4 }));
    const owners = [{ ...ownedBy(deployment), controller: true }];
    const set = await cluster.post("replicasets", "web", workload("nginx", { replicas: 1 }), {
      ownerReferences: owners,
    });
    await addPod(set, "one", true);
    await addBudget({ maxUnavailable: 1 });
    await has({ expectedPods: 4, desiredHealthy: 3 });
  });

  test("reports Pods without a controller", async () => {
    await cluster.addPod("bare", "10.0.0.1");
    await addBudget({ maxUnavailable: 1 });
    await has({ expectedPods: 0, disruptionsAllowed: 0 });
    await until(async () => (await cluster.events("web")).length > 0);
    const [message = ""] = await cluster.events("web");
    const selector =
      "&LabelSelector{MatchLabels:map[string]string{app: web,},MatchExpressions:[]LabelSelectorRequirement{},}";
    assert.ok(
      message.startsWith(`Pods selected by this PodDisruptionBudget (selector: ${selector}) were found`),
      message,
    );
  });

  test("allows no evictions if a controller has no scale", async () => {
    const job = await cluster.post("jobs", "web", {
      template: { spec: { restartPolicy: "Never", containers: [{ name: "a", image: "b" }] } },
    });
    await addPod(job, "one", true);
    await addBudget({ maxUnavailable: 1 });
    await until(async () => (await status())?.conditions?.[0]?.reason === "SyncFailed");
    assert.equal((await status())?.conditions?.[0]?.message, "jobs.batch does not implement the scale subresource");
    assert.equal((await status())?.disruptionsAllowed, 0);
  });

  test("forgets evicted Pods that are gone, and counts others as unhealthy", async () => {
    await addPods(2, true, true);
    await addBudget({ maxUnavailable: 1 });
    await has({ disruptionsAllowed: 1, currentHealthy: 2 });
    const now = new Date().toISOString().replace(/\.\d+/, "");
    const key = { namespace: "default", name: "web" };
    const patch = { status: { disruptedPods: { "pod-0": now, gone: now } } };
    await cluster.client.patch(cluster.resource("poddisruptionbudgets"), key, patch, { subresource: "status" });
    await has({ disruptionsAllowed: 0, currentHealthy: 1 });
    assert.deepEqual((await status())?.disruptedPods, { "pod-0": now });
  });
});

suite("disruption-controller beside another controller", () => {
  test("sees that the only Pod is gone before it is replaced, as in a cluster with a remote server", async () => {
    const cluster = new ServiceCluster();
    cluster.start(statefulSets(cluster), disruption(cluster));
    await cluster.post("statefulsets", "web", workload("nginx", { serviceName: "web", replicas: 1 }));
    const uid = async () => (await cluster.find("pods", "web-0"))?.metadata.uid;
    await until(async () => (await uid()) !== undefined);
    const first = await uid();
    const selector = { matchLabels: { app: "web" } };
    await cluster.post("poddisruptionbudgets", "budget", { selector, minAvailable: 1 });
    const find = async () => (await cluster.find("poddisruptionbudgets", "budget")) as DisruptionBudget | undefined;
    await until(async () => (await find())?.status?.expectedPods === 1);
    await cluster.delete("pods", "web-0");
    await until(async () => ![undefined, first].includes(await uid()));
    await until(async () => (await cluster.events("budget")).length > 0);
    assert.deepEqual(await cluster.events("budget"), ["No matching pods found"]);
    await cluster.end();
  });
});

suite("Pods that were to be evicted", () => {
  test("lose the condition DisruptionTarget after two minutes", async () => {
    const clock = new ManualClock();
    const cluster = new ServiceCluster(undefined, { clock });
    await cluster.prepare();
    await cluster.addPod("one", "10.0.0.1");
    cluster.start(disruption(cluster));
    const lastTransitionTime = new Date(clock.now()).toISOString().replace(/\.\d+/, "");
    const target = { type: "DisruptionTarget", status: "True", reason: "EvictionByEvictionAPI", lastTransitionTime };
    await cluster.patchStatus("one", { conditions: [target] });
    const find = async () => (await cluster.pods())[0]?.status?.conditions?.find(({ type }) => type === target.type);
    await until(async () => {
      await clock.advance(60_000);
      return (await find())?.status === "False";
    });
    assert.equal((await find())?.reason, undefined);
    await cluster.end();
  });
});
