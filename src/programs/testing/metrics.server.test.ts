import assert from "node:assert/strict";
import * as hooks from "node:test";
import { suite, test } from "node:test";
import { AppsV1Api, AutoscalingV2Api, CoreV1Api } from "@kubernetes/client-node";
import { forkPerTest } from "./fork-per-test.ts";

const namespace = "default";
/** A definition of a kind of KWOK, without the details of its schema. */
const kwokKind = (kind: string, scope: string) => {
  const plural = `${kind.toLowerCase()}s`;
  const schema = { openAPIV3Schema: { type: "object", "x-kubernetes-preserve-unknown-fields": true } };
  return {
    apiVersion: "apiextensions.k8s.io/v1",
    kind: "CustomResourceDefinition",
    metadata: { name: `${plural}.kwok.x-k8s.io` },
    spec: {
      group: "kwok.x-k8s.io",
      names: { kind, plural },
      scope,
      versions: [{ name: "v1alpha1", served: true, storage: true, schema }],
    },
  };
};

const cp = forkPerTest(hooks, {
  crds: [kwokKind("ResourceUsage", "Namespaced"), kwokKind("ClusterResourceUsage", "Cluster")],
  controllers: "*",
  cluster: { nodes: 2 },
  clock: { at: "2026-01-01T00:00:00Z" },
});
const BASE = "/apis/metrics.k8s.io/v1beta1";

async function read(path: string, options: RequestInit = {}): Promise<Record<string, unknown>> {
  const response = await cp().fetch(path, options);
  return (await response.json()) as Record<string, unknown>;
}

async function runPod(name: string, image: string, more: object = {}, metadata: object = {}): Promise<void> {
  const spec = { nodeName: "node-1", containers: [{ name: "main", image }], ...more };
  const body = { metadata: { name, labels: { app: name }, ...metadata }, spec };
  await cp().client(CoreV1Api).createNamespacedPod({ namespace, body });
  await cp().settled();
}

suite("metrics.k8s.io of a control plane", () => {
  test("shows what functions report, on the clock of the control plane", async () => {
    cp().cluster.image("web", { usage: ({ since }) => ({ cpu: `${since / 1000}m`, memory: "64Mi" }) });
    await runPod("web", "web");
    await cp().clock.advance({ seconds: 90 });
    const metadata = { name: "web", namespace, creationTimestamp: "2026-01-01T00:01:30Z", labels: { app: "web" } };
    const timestamp = "2026-01-01T00:01:30Z";
    const usage = { cpu: "90m", memory: "64Mi" };
    const expected = { metadata, timestamp, window: "15s", containers: [{ name: "main", usage }] };
    assert.deepEqual(await read(`${BASE}/namespaces/${namespace}/pods/web`), {
      kind: "PodMetrics",
      apiVersion: "metrics.k8s.io/v1beta1",
      ...expected,
    });
    assert.deepEqual(await read(`${BASE}/pods?labelSelector=app%3Dweb`), {
      kind: "PodMetricsList",
      apiVersion: "metrics.k8s.io/v1beta1",
      metadata: {},
      items: [expected],
    });
    const headers = { accept: "application/vnd.kubernetes.protobuf" };
    const encoded = await (await cp().fetch(`${BASE}/pods`, { headers })).bytes();
    assert.match(Buffer.from(encoded).toString("latin1"), /^k8s\0.*PodMetricsList.*90m.*64Mi/s);
    assert.partialDeepStrictEqual(await read(`${BASE}/nodes/node-1`), { kind: "NodeMetrics", timestamp, usage });
    assert.partialDeepStrictEqual(await read(`${BASE}/nodes/node-2`), { usage: { cpu: "0", memory: "0" } });
  });

  test("has no metrics of a Pod before it runs and after it has ended", async () => {
    const items = async () => ((await read(`${BASE}/namespaces/${namespace}/pods`)).items as unknown[]).length;
    const init = {
      initContainers: [{ name: "init", image: "init", restartPolicy: undefined }],
      restartPolicy: "Never",
    };
    cp().cluster.image("never", { pullError: "denied" });
    await runPod("never", "never");
    assert.equal(await items(), 0);
    assert.equal(
      (await read(`${BASE}/namespaces/${namespace}/pods/never`)).message,
      'podmetrics.metrics.k8s.io "default/never" not found',
    );
    assert.equal((await read(`${BASE}/namespaces/${namespace}/pods/none`)).message, 'pods "none" not found');
    assert.equal((await read(`${BASE}/nodes/none`)).message, 'node "none" not found');
    cp().cluster.image("task", async ({ sleep }) => sleep("1m"));
    await runPod("task", "task", init);
    await cp().clock.advance({ seconds: 5 });
    assert.equal(await items(), 1);
    await cp().clock.advance({ minutes: 2 });
    assert.equal(await items(), 0);
  });

  test("takes KWOK's annotations, and omits a Pod whose function fails", async () => {
    cp().cluster.image("bad", {
      usage() {
        throw new Error("no idea");
      },
    });
    const annotations = { "kwok.x-k8s.io/usage-cpu": "2", "kwok.x-k8s.io/usage-memory": "1Gi" };
    await runPod("noted", "nginx", {}, { annotations });
    await runPod("bad", "bad");
    const { items } = await read(`${BASE}/namespaces/${namespace}/pods`);
    assert.partialDeepStrictEqual(items, [
      { metadata: { name: "noted" }, containers: [{ usage: { cpu: "2", memory: "1Gi" } }] },
    ]);
    const log = await cp().fetch(`/api/v1/namespaces/${namespace}/pods/bad/log`);
    assert.match(await log.text(), /^Error: no idea\n/);
  });

  test("takes the values and expressions of KWOK's ResourceUsage and ClusterResourceUsage", async () => {
    const usage = (kind: string, name: string, spec: object) => ({
      apiVersion: "kwok.x-k8s.io/v1alpha1",
      kind,
      metadata: kind === "ResourceUsage" ? { name, namespace } : { name },
      spec,
    });
    const annotated = (resource: string, otherwise: string) => ({
      expression: `"kwok.x-k8s.io/usage-${resource}" in pod.metadata.annotations
        ? Quantity(pod.metadata.annotations["kwok.x-k8s.io/usage-${resource}"])
        : Quantity("${otherwise}")`,
    });
    await cp().apply([
      usage("ResourceUsage", "fixed", {
        usages: [
          { usage: { cpu: { value: "3" }, memory: { value: "5Mi" } } },
          { containers: ["side"], usage: { cpu: { value: "7m" }, memory: { expression: "1.5 * 1024.0" } } },
        ],
      }),
      usage("ClusterResourceUsage", "rising", {
        selector: { matchNames: ["rising"] },
        usages: [
          {
            usage: {
              cpu: { expression: 'container.resources.requests["cpu"] * (pod.SinceSecond() / 60.0)' },
              memory: { expression: 'Quantity("1Mi") + Quantity("1Ki") * size(node.metadata.name)' },
            },
          },
        ],
      }),
      usage("ClusterResourceUsage", "zz-usage-from-annotation", {
        usages: [{ usage: { cpu: annotated("cpu", "1m"), memory: annotated("memory", "1Mi") } }],
      }),
    ]);
    const main = { name: "main", image: "nginx", resources: { requests: { cpu: "100m" } } };
    await runPod("fixed", "", { containers: [main, { name: "side", image: "nginx" }] });
    await runPod("rising", "", { containers: [main] });
    await runPod("noted", "nginx", {}, { annotations: { "kwok.x-k8s.io/usage-cpu": "40m" } });
    await cp().clock.advance({ minutes: 3 });
    const { items } = await read(`${BASE}/namespaces/${namespace}/pods`);
    const found = (items as { metadata: { name: string }; containers: { usage: object }[] }[]).map((one) => [
      one.metadata.name,
      ...one.containers.map((container) => container.usage),
    ]);
    assert.deepEqual(found, [
      ["fixed", { cpu: "3", memory: "5Mi" }, { cpu: "7m", memory: "1536" }],
      ["noted", { cpu: "40m", memory: "1Mi" }],
      ["rising", { cpu: "300m", memory: "1030Ki" }],
    ]);
  });

  test("is authorized like any resource: readers of the role view may read it", async () => {
    const statusOf = async (path: string) => (await cp().as({ user: "jane" }).fetch(path)).status;
    await runPod("web", "nginx");
    assert.equal(await statusOf(`${BASE}/namespaces/${namespace}/pods`), 403);
    const roleRef = { apiGroup: "rbac.authorization.k8s.io", kind: "ClusterRole", name: "view" };
    const subjects = [{ apiGroup: "rbac.authorization.k8s.io", kind: "User", name: "jane" }];
    const binding = { apiVersion: "rbac.authorization.k8s.io/v1", kind: "RoleBinding", metadata: { name: "jane" } };
    await cp().apply([{ ...binding, roleRef, subjects }]);
    await cp().settled();
    assert.equal(await statusOf(`${BASE}/namespaces/${namespace}/pods/web`), 200);
    assert.equal(await statusOf(`${BASE}/nodes`), 403);
  });

  test("leaves the group to another APIService", async () => {
    const service = { namespace: "kube-system", name: "metrics-server" };
    const spec = { group: "metrics.k8s.io", version: "v1beta1", groupPriorityMinimum: 100, versionPriority: 100 };
    const metadata = { name: "v1beta1.metrics.k8s.io" };
    const other = { kind: "APIService", apiVersion: "apiregistration.k8s.io/v1", metadata, spec: { ...spec, service } };
    assert.equal((await cp().fetch(`${BASE}/nodes`)).status, 200);
    await cp().apply([{ ...other, spec: { ...other.spec, insecureSkipTLSVerify: true } }]);
    await cp().settled();
    assert.equal((await cp().fetch(`${BASE}/nodes`)).status, 503, "there is no such Service");
  });

  test("scales a Deployment up and, after the stabilization window, down", async () => {
    // All Pods together do the work, so each has less of it when there are more.
    let work = 200;
    const running = new Set<string>();
    cp().cluster.image("shop/web:*", {
      async run({ pod: { metadata }, signal }) {
        running.add(metadata.uid ?? "");
        await new Promise((resolve) => signal.addEventListener("abort", resolve));
        running.delete(metadata.uid ?? "");
      },
      usage: () => ({ cpu: `${Math.round(work / running.size)}m`, memory: "16Mi" }),
    });
    const labels = { app: "web" };
    const containers = [{ name: "main", image: "shop/web:1", resources: { requests: { cpu: "200m" } } }];
    const template = { metadata: { labels }, spec: { containers } };
    const apps = cp().client(AppsV1Api);
    await apps.createNamespacedDeployment({
      namespace,
      body: { metadata: { name: "web" }, spec: { replicas: 2, selector: { matchLabels: labels }, template } },
    });
    const target = { type: "Utilization", averageUtilization: 50 };
    const hpas = cp().client(AutoscalingV2Api);
    await hpas.createNamespacedHorizontalPodAutoscaler({
      namespace,
      body: {
        metadata: { name: "web" },
        spec: {
          minReplicas: 1,
          maxReplicas: 10,
          scaleTargetRef: { apiVersion: "apps/v1", kind: "Deployment", name: "web" },
          metrics: [{ type: "Resource", resource: { name: "cpu", target } }],
        },
      },
    });
    const replicas = async () =>
      (await apps.readNamespacedDeployment({ namespace, name: "web" })).status?.readyReplicas;
    const status = async () => (await hpas.readNamespacedHorizontalPodAutoscaler({ namespace, name: "web" })).status;
    await cp().clock.advance({ minutes: 6 });
    assert.equal(await replicas(), 2);
    assert.partialDeepStrictEqual(await status(), {
      currentMetrics: [{ resource: { current: { averageUtilization: 50, averageValue: "100m" } } }],
      currentReplicas: 2,
      desiredReplicas: 2,
    });
    work = 600;
    await cp().clock.advance({ minutes: 1 });
    assert.equal(await replicas(), 6);
    work = 280;
    await cp().clock.advance({ minutes: 4 });
    assert.equal(await replicas(), 6, "within the stabilization window");
    await cp().clock.advance({ minutes: 2 });
    assert.equal(await replicas(), 3);
    const events = (await cp().client(CoreV1Api).listNamespacedEvent({ namespace })).items;
    assert.deepEqual(
      events.filter(({ reason }) => reason === "SuccessfulRescale").map(({ message }) => message),
      [
        "New size: 4; reason: cpu resource utilization (percentage of request) above target",
        "New size: 6; reason: cpu resource utilization (percentage of request) above target",
        "New size: 3; reason: All metrics below target",
      ],
    );
  });
});
