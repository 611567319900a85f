import assert from "node:assert/strict";
import * as hooks from "node:test";
import { suite, test } from "node:test";
import { AppsV1Api } from "@kubernetes/client-node";
import { widgetsDefinition } from "../../base/util/widgets.suite.ts";
import { forkPerTest } from "./fork-per-test.ts";

const cp = forkPerTest(hooks, {
  clock: { at: "2026-01-01T00:00:00Z" },
  crds: widgetsDefinition({ size: { type: "integer" } }),
});
const NOW = "2026-01-01T00:00:00Z";
const metadata = { name: "web", namespace: "default" };
const labels = { app: "web" };
const template = {
  metadata: { labels },
  spec: { containers: [{ name: "c", image: "nginx" }] },
};
const selector = { matchLabels: labels };
const deployment = { apiVersion: "apps/v1", kind: "Deployment", metadata, spec: { replicas: 3, selector, template } };

/** Applies an object, makes it available and returns its status. */
async function availableStatus(object: object): Promise<Record<string, unknown>> {
  const [applied] = await cp().apply(object);
  assert.ok(applied);
  return (await cp().makeAvailable(applied)).status as Record<string, unknown>;
}
const conditionsOf = (status: Record<string, unknown>) =>
  (status.conditions as { type: string; status: string }[]).map(({ type, status: state }) => `${type}=${state}`);

suite("setStatus", () => {
  test("writes the given fields and keeps the others", async () => {
    await cp().apply(deployment);
    await cp().setStatus(deployment, { replicas: 2, readyReplicas: 1 });
    const { status, spec } = await cp().setStatus(deployment, { readyReplicas: 2 });
    assert.deepEqual(status, { replicas: 2, readyReplicas: 2 });
    assert.equal((spec as { replicas: number }).replicas, 3);
  });

  test("rejects what the server rejects, and kinds without a status", async () => {
    await cp().apply(deployment);
    await assert.rejects(cp().setStatus(deployment, { replicas: -1 }), {
      name: "ApplyError",
      code: 422,
      message: /^setting the status of Deployment web failed with 422: .*must be greater than or equal to 0/,
    });
    const missing = { ...deployment, metadata: { name: "none" } };
    await assert.rejects(cp().setStatus(missing, {}), { code: 404 });
    await assert.rejects(
      cp().setStatus({ apiVersion: "v1", kind: "ConfigMap", metadata }, {}),
      /^Error: ConfigMap has no status subresource/,
    );
    await assert.rejects(
      cp().setStatus({ metadata }, {}),
      /expected an object with apiVersion, kind and metadata.name/,
    );
  });
});

suite("makeAvailable", () => {
  test("writes counts and conditions of a Deployment, also as client-node reads it", async () => {
    const apps = cp().kubeConfig().makeApiClient(AppsV1Api);
    await cp().apply(deployment);
    const read = () => apps.readNamespacedDeployment(metadata);
    await cp().makeAvailable(await read());
    const { status } = await read();
    assert.deepEqual(
      [status?.observedGeneration, status?.replicas, status?.readyReplicas, status?.availableReplicas],
      [1, 3, 3, 3],
    );
    assert.deepEqual(
      status?.conditions?.map(({ type, status: state, reason }) => [type, state, reason]),
      [
        ["Available", "True", "MinimumReplicasAvailable"],
        ["Progressing", "True", "NewReplicaSetAvailable"],
      ],
    );
  });

  test("follows a scaled object, and keeps the time of conditions that do not change", async () => {
    await availableStatus(deployment);
    await cp().clock.advance({ minutes: 5 });
    const status = await availableStatus({ ...deployment, spec: { ...deployment.spec, replicas: 0 } });
    const [condition] = status.conditions as { lastTransitionTime: string; lastUpdateTime: string }[];
    assert.deepEqual([condition?.lastTransitionTime, condition?.lastUpdateTime], [NOW, "2026-01-01T00:05:00Z"]);
    const { conditions: _, ...counts } = status;
    assert.deepEqual(counts, { observedGeneration: 2 });
  });

  test("knows the other workloads", async () => {
    const workload = (kind: string, spec: object) => ({ apiVersion: "apps/v1", kind, metadata, spec });
    const replicaSet = await availableStatus(workload("ReplicaSet", { replicas: 2, selector, template }));
    assert.deepEqual([replicaSet.replicas, replicaSet.availableReplicas], [2, 2]);
    const spec = { replicas: 2, serviceName: "web", selector, template };
    const statefulSet = await availableStatus(workload("StatefulSet", spec));
    assert.deepEqual([statefulSet.replicas, statefulSet.updatedReplicas], [2, 2]);
    const daemonSet = await availableStatus(workload("DaemonSet", { selector, template }));
    assert.deepEqual([daemonSet.desiredNumberScheduled, daemonSet.numberAvailable], [1, 1]);
    const job = await availableStatus({
      ...{ apiVersion: "batch/v1", kind: "Job", metadata },
      spec: { completions: 2, template: { spec: { ...template.spec, restartPolicy: "Never" } } },
    });
    assert.deepEqual(
      [job.succeeded, job.completionTime, ...conditionsOf(job)],
      [...[2, NOW], ...["SuccessCriteriaMet=True", "Complete=True"]],
    );
  });

  test("knows Pods, Nodes and what has an address", async () => {
    const pod = await availableStatus({ apiVersion: "v1", kind: "Pod", metadata, spec: template.spec });
    assert.equal(pod.phase, "Running");
    assert.match(String(pod.podIP), /^10\.244\.\d+\.\d+$/);
    assert.ok(conditionsOf(pod).includes("Ready=True"));
    const node = await availableStatus({ apiVersion: "v1", kind: "Node", metadata: { name: "n" } });
    assert.ok(conditionsOf(node).includes("Ready=True") && conditionsOf(node).includes("DiskPressure=False"));
    const service = (type: string) => ({
      apiVersion: "v1",
      kind: "Service",
      metadata,
      spec: { type, ports: [{ port: 80 }] },
    });
    assert.deepEqual(await availableStatus(service("LoadBalancer")), {
      loadBalancer: { ingress: [{ ip: "192.0.2.1", ipMode: "VIP" }] },
    });
    const internal = { ...service("ClusterIP"), metadata: { ...metadata, name: "internal" } };
    assert.deepEqual(await availableStatus(internal), { loadBalancer: {} });
    const backend = { service: { name: "web", port: { number: 80 } } };
    const ingress = {
      apiVersion: "networking.k8s.io/v1",
      kind: "Ingress",
      metadata,
      spec: { defaultBackend: backend },
    };
    assert.deepEqual(await availableStatus(ingress), { loadBalancer: { ingress: [{ ip: "192.0.2.1" }] } });
    const claim = await availableStatus({
      ...{ apiVersion: "v1", kind: "PersistentVolumeClaim", metadata },
      spec: { accessModes: ["ReadWriteOnce"], resources: { requests: { storage: "1Gi" } } },
    });
    assert.deepEqual(claim, { phase: "Bound", accessModes: ["ReadWriteOnce"], capacity: { storage: "1Gi" } });
  });

  test("rejects kinds whose availability it does not know", async () => {
    const widget = { apiVersion: "shop.example/v1", kind: "Widget", metadata };
    await cp().apply(widget);
    await assert.rejects(cp().makeAvailable(widget), /does not know when a Widget is available: use setStatus\(\)/);
  });
});
