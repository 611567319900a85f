import assert from "node:assert/strict";
import { afterEach, beforeEach, suite, test } from "node:test";
import { statusError } from "../../../../base/api/api-error.ts";
import type { JsonObject } from "../../../../base/api/object.ts";
import { ManualClock } from "../../../../base/util/environment.suite.ts";
import type { Deployment } from "../../../../kinds/types/workloads.ts";
import type { ObjectClient } from "../../../../resources/object-client.ts";
import { until } from "../../shared/controllers.suite.ts";
import { ServiceCluster } from "../services.suite.ts";
import { workload } from "../workloads.suite.ts";
import type { Autoscaler, AutoscalerStatus } from "./autoscaler-types.ts";
import { horizontalPodAutoscalers } from "./horizontal-pod-autoscaler.ts";

const PATHS = {
  resource: "/apis/metrics.k8s.io/v1beta1/namespaces/default/pods",
  custom: "/apis/custom.metrics.k8s.io",
  pods: "/apis/custom.metrics.k8s.io/v1beta2/namespaces/default/pods/*/requests",
  object: "/apis/custom.metrics.k8s.io/v1beta2/namespaces/default/services/web/requests",
  external: "/apis/external.metrics.k8s.io/v1beta1/namespaces/default/queue",
};

suite("horizontal-pod-autoscaler-controller", () => {
  let cluster: ServiceCluster;
  let clock: ManualClock;
  /** Responses of extension servers by path. */
  let served: Record<string, JsonObject>;

  beforeEach(async () => {
    clock = new ManualClock();
    cluster = new ServiceCluster(undefined, { clock });
    await cluster.prepare();
    served = {};
    const client: ObjectClient = Object.create(cluster.client, {
      read: {
        value: async (path: string, query?: Record<string, string>) => {
          const found = served[path];
          if (found) return structuredClone(found);
          if (path.includes("metrics.k8s.io")) throw statusError(404, { message: "404 page not found" });
          return cluster.client.read(path, query);
        },
      },
    });
    for (const method of ["create", "update", "patch"] as const) {
      Object.defineProperty(client, method, { value: cluster.client[method].bind(cluster.client) });
    }
    const { resources, informers, report } = cluster;
    cluster.start(horizontalPodAutoscalers({ resources, informers, report, client }));
  });
  afterEach(() => cluster.end());

  const addTarget = async (replicas: number, count = replicas) => {
    await cluster.post("deployments", "web", workload("nginx", { replicas }));
    const requests = { cpu: "1", memory: "1Gi" };
    for (let at = 0; at < count; at++) {
      await cluster.addPod(`pod-${at}`, `10.0.0.${at + 1}`, { container: { resources: { requests } } });
      await cluster.patchStatus(`pod-${at}`, { startTime: "2020-01-01T00:00:00Z" });
    }
    const key = { namespace: "default", name: "web" };
    const status = { status: { replicas: count } };
    await cluster.client.patch(cluster.resource("deployments"), key, status, { subresource: "status" });
  };
  const add = (spec: JsonObject, name = "web") => {
    const scaleTargetRef = { kind: "Deployment", name: "web", apiVersion: "apps/v1" };
    return cluster.post("horizontalpodautoscalers", name, { scaleTargetRef, maxReplicas: 10, ...spec });
  };
  const status = async (name = "web"): Promise<AutoscalerStatus> =>
    ((await cluster.find("horizontalpodautoscalers", name)) as Autoscaler | undefined)?.status ?? {};
  const condition = async (type: string) => (await status()).conditions?.find((one) => one.type === type);
  const reasons = async () =>
    ((await status()).conditions ?? []).map(({ type, status: is, reason }) => `${type}=${is} ${reason}`);
  const size = async () => ((await cluster.find("deployments", "web")) as Deployment | undefined)?.spec.replicas;
  const hasSize = (wanted: number) =>
    until(async () => {
      if ((await size()) === wanted) return true;
      await clock.advance(15_000);
      return false;
    });
  const resourceMetrics = (usage: JsonObject, count: number) => {
    const timestamp = new Date(clock.now()).toISOString();
    const items = Array.from({ length: count }, (_, at) => ({
      metadata: { name: `pod-${at}` },
      ...{ timestamp, window: "30s", containers: [{ name: "main", usage }] },
    }));
    served[PATHS.resource] = { items };
  };
  const metric = (type: string, member: string, spec: JsonObject) => ({ metrics: [{ type, [member]: spec }] });

  test("reports that no server has metrics, with the messages of kube-controller-manager", async () => {
    await addTarget(2);
    await add({});
    await until(async () => (await condition("ScalingActive"))?.status === "False");
    const detail =
      "failed to get cpu utilization: unable to get metrics for resource cpu: unable to fetch metrics from resource metrics API: the server could not find the requested resource (get pods.metrics.k8s.io)";
    const { reason, message } = (await condition("ScalingActive")) ?? {};
    assert.deepEqual(
      [reason, message],
      ["FailedGetResourceMetric", `the HPA was unable to compute the replica count: ${detail}`],
    );
    assert.deepEqual((await status()).currentMetrics, [{ type: "" }]);
    assert.equal((await status()).currentReplicas, 2);
    await until(async () => (await cluster.events("web")).length === 2);
    const first = `failed to get cpu resource metric value: ${detail}`;
    assert.deepEqual((await cluster.events("web")).sort(), [
      detail,
      `invalid metrics (1 invalid out of 1), first error is: ${first}`,
    ]);
  });

  test("scales by CPU utilization", async () => {
    await addTarget(2);
    resourceMetrics({ cpu: "900m" }, 2);
    await add(metric("Resource", "resource", { name: "cpu", target: { type: "Utilization", averageUtilization: 60 } }));
    await until(async () => (await status()).desiredReplicas === 3);
    assert.equal(await size(), 3);
    const current = { averageUtilization: 90, averageValue: "900m" };
    assert.deepEqual((await status()).currentMetrics, [{ type: "Resource", resource: { name: "cpu", current } }]);
    assert.deepEqual(await reasons(), [
      "AbleToScale=True SucceededRescale",
      "ScalingActive=True ValidMetricFound",
      "ScalingLimited=False DesiredWithinRange",
      "ScaledToZero=False NotScaledToZero",
    ]);
    await until(async () => (await cluster.events("web")).length === 1);
    const reason = "cpu resource utilization (percentage of request) above target";
    assert.deepEqual(await cluster.events("web"), [`New size: 3; reason: ${reason}`]);
  });

  test("scales down after the stabilization window", async () => {
    await addTarget(4);
    resourceMetrics({ memory: "128Mi" }, 4);
    const target = { type: "AverageValue", averageValue: "512Mi" };
    await add(metric("ContainerResource", "containerResource", { name: "memory", container: "main", target }));
    await until(async () => (await condition("AbleToScale"))?.reason === "ScaleDownStabilized");
    assert.equal(await size(), 4);
    await hasSize(1);
    const [found] = (await status()).currentMetrics ?? [];
    assert.deepEqual(found?.containerResource, {
      name: "memory",
      container: "main",
      current: { averageValue: "128Mi" },
    });
  });

  test("scales by custom and external metrics, and by the largest proposal", async () => {
    await addTarget(2);
    served[PATHS.custom] = { versions: [{ groupVersion: "custom.metrics.k8s.io/v1beta2" }] };
    const timestamp = new Date(clock.now()).toISOString();
    const items = [0, 1].map((at) => ({ describedObject: { name: `pod-${at}` }, timestamp, value: "10" }));
    served[PATHS.pods] = { items };
    served[PATHS.object] = { items: [{ value: "30" }] };
    served[PATHS.external] = { items: [{ value: "1500m" }, { value: "20" }] };
    const name = { metric: { name: "requests" } };
    const describedObject = { kind: "Service", name: "web", apiVersion: "v1" };
    await add({
      metrics: [
        { type: "Pods", pods: { ...name, target: { type: "AverageValue", averageValue: "9800m" } } },
        { type: "Object", object: { ...name, describedObject, target: { type: "Value", value: "15" } } },
        {
          type: "External",
          external: { metric: { name: "queue" }, target: { type: "AverageValue", averageValue: "7" } },
        },
      ],
    });
    await hasSize(4);
    await until(async () => (await status()).desiredReplicas === 4);
    const currents = ((await status()).currentMetrics ?? []).map(
      (one) => (one.pods ?? one.object ?? one.external) as JsonObject,
    );
    assert.deepEqual(
      currents.map(({ current }) => current),
      [{ averageValue: "10" }, { value: "30" }, { averageValue: "10750m" }],
    );
  });

  test("keeps to minReplicas and maxReplicas without metrics", async () => {
    await addTarget(1);
    await add({ minReplicas: 3 });
    await hasSize(3);
    await cluster.patch("horizontalpodautoscalers", "web", { spec: { minReplicas: 1, maxReplicas: 2 } });
    await hasSize(2);
    await until(async () => (await cluster.events("web")).length >= 2);
    const events = await cluster.events("web");
    assert.ok(events.includes("New size: 3; reason: Current number of replicas below Spec.MinReplicas"));
    assert.ok(events.includes("New size: 2; reason: Current number of replicas above Spec.MaxReplicas"));
  });

  test("does nothing for a target of size zero", async () => {
    await addTarget(0);
    await add({});
    await until(async () => (await condition("ScalingActive"))?.reason === "ScalingDisabled");
    assert.equal(await size(), 0);
  });

  test("reports a target that does not exist, and shared Pods", async () => {
    await add({});
    await until(async () => (await condition("AbleToScale"))?.reason === "FailedGetScale");
    const message =
      'the HPA controller was unable to get the target\'s current scale: deployments.apps "web" not found';
    assert.equal((await condition("AbleToScale"))?.message, message);
    await addTarget(1);
    await add({}, "other");
    const isAmbiguous = async () => {
      const both = [...((await status()).conditions ?? []), ...((await status("other")).conditions ?? [])];
      return both.some(({ reason }) => reason === "AmbiguousSelector");
    };
    await until(async () => {
      await clock.advance(15_000);
      return isAmbiguous();
    });
    await cluster.delete("horizontalpodautoscalers", "other");
    await until(async () => {
      await clock.advance(15_000);
      return (await condition("ScalingActive"))?.reason === "FailedGetResourceMetric";
    });
  });
});
