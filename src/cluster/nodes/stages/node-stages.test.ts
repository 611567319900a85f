import assert from "node:assert/strict";
import { afterEach, beforeEach, suite, test } from "node:test";
import type { JsonObject } from "../../../base/api/object.ts";
import type { Node } from "../../../kinds/types/node.ts";
import { SimulatedCluster } from "../nodes.suite.ts";

const readyIs = (operator: string) => {
  return { key: '.status.conditions[] | select(.type == "Ready") | .status', operator, values: ["True"] };
};
const conditions = (lines: string) => `
  {{ $now := Now }}
  conditions:
  {{ range NodeConditions }}
  - type: {{ .type | Quote }}
    status: {{ .status | Quote }}
    reason: {{ .reason | Quote }}
    message: {{ .message | Quote }}
    lastHeartbeatTime: {{ $now | Quote }}
    lastTransitionTime: {{ or $.metadata.creationTimestamp $now | Quote }}
  {{ end }}
  ${lines}`;
const initialize: JsonObject = {
  selector: { matchExpressions: [readyIs("NotIn")] },
  next: {
    statusTemplate: conditions(`
  addresses:
  - { type: InternalIP, address: {{ NodeIP | Quote }} }
  - { type: Hostname, address: {{ NodeName | Quote }} }
  allocatable: { cpu: 1k, memory: 1Ti, pods: 1M }
  capacity: { cpu: 1k, memory: 1Ti, pods: 1M }
  phase: Running`),
  },
};
const heartbeat: JsonObject = {
  selector: { matchExpressions: [{ cel: { expression: "self.status.phase == 'Running'" } }, readyIs("In")] },
  delay: { durationMilliseconds: 20_000, jitterDurationMilliseconds: 20_000 },
  next: { statusTemplate: conditions("") },
};

suite("Stages of Nodes", () => {
  let cluster: SimulatedCluster;

  beforeEach(() => {
    cluster = new SimulatedCluster();
  });
  afterEach(() => cluster.stop());

  const add = async (name: string, spec: JsonObject, kind = "Node") => {
    const object = { apiVersion: "kwok.x-k8s.io/v1alpha1", kind: "Stage", metadata: { name } };
    const value = { ...object, spec: { resourceRef: { apiGroup: "v1", kind }, ...spec } };
    const key = `${cluster.resources.keys.root}kwok.x-k8s.io/stages/${name}`;
    await cluster.store.put(key, Buffer.from(JSON.stringify(value)), 0);
    await cluster.clock.advance(0);
  };
  const node = async () => (await cluster.find("nodes", "node-1")) as Node;
  const ready = async () => (await node()).status?.conditions?.find(({ type }) => type === "Ready");

  test("post the status and the heartbeats of simulated nodes, instead of this server", async () => {
    await add("node-initialize", initialize);
    await add("node-heartbeat", heartbeat);
    await cluster.simulate();
    const { status } = await node();
    assert.deepEqual(status?.capacity, { cpu: "1k", memory: "1Ti", pods: "1M" });
    assert.deepEqual(
      status?.conditions?.map(({ type }) => type),
      ["Ready", "MemoryPressure", "DiskPressure", "PIDPressure", "NetworkUnavailable"],
    );
    assert.equal(status?.addresses?.find(({ type }) => type === "Hostname")?.address, "node-1");
    const before = (await ready())?.lastHeartbeatTime;
    await cluster.wait(20);
    assert.equal((await ready())?.lastHeartbeatTime, cluster.now);
    assert.notEqual((await ready())?.lastHeartbeatTime, before);
    await cluster.run("web");
    assert.equal((await cluster.stored("web")).status?.phase, "Running");
    assert.deepEqual(cluster.problems, []);
  });

  test("can make a node unready, with JSON patches and objects that they apply", async () => {
    await cluster.simulate();
    assert.equal((await ready())?.status, "True");
    await add("break", {
      selector: { matchLabels: { broken: "true" }, matchExpressions: [readyIs("In")] },
      steps: [
        {
          patch: {
            subresource: "status",
            type: "json",
            root: "status",
            template: '[{ op: replace, path: /conditions/3/status, value: "False" }]',
          },
        },
        {
          apply: {
            template: '{{ define "name" }}{{ .metadata.name }}-broken{{ end }}'.concat(
              "{ apiVersion: v1, kind: ConfigMap, ",
              'metadata: { namespace: default, name: {{ template "name" . }} }, data: { node: {{ .metadata.name }} } }',
            ),
          },
        },
      ],
    });
    const key = { namespace: "", name: "node-1" };
    await cluster.client.patch(cluster.resource("nodes"), key, { metadata: { labels: { broken: "true" } } });
    await cluster.clock.advance(0);
    assert.equal((await ready())?.status, "False");
    assert.deepEqual((await cluster.find("configmaps", "node-1-broken"))?.data, { node: "node-1" });
    assert.deepEqual(cluster.problems, []);
  });
});
