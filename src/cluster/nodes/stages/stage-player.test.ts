import assert from "node:assert/strict";
import { afterEach, beforeEach, suite, test } from "node:test";
import type { JsonObject } from "../../../base/api/object.ts";
import { ContainerImages } from "../behaviour/container-images.ts";
import { defaultBehaviour } from "../behaviour/default-behaviour.ts";
import { functionBehaviour } from "../behaviour/function-behaviour.ts";
import { SimulatedCluster } from "../nodes.suite.ts";

const exists = (key: string) => ({ key, operator: "Exists" });
const lacks = (key: string) => ({ key, operator: "DoesNotExist" });
const phaseIs = (phase: string) => ({ key: ".status.phase", operator: "In", values: [phase] });

const ready: JsonObject = {
  selector: { matchExpressions: [lacks(".metadata.deletionTimestamp"), phaseIs("Pending")] },
  delay: { durationMilliseconds: 5000, durationFrom: { expressionFrom: '.metadata.annotations["delay"]' } },
  next: {
    event: { type: "Normal", reason: "Started", message: "by a Stage" },
    finalizers: { add: [{ value: "example.com/stage" }] },
    statusTemplate: `
      {{ $now := Now }}
      conditions:
      - lastTransitionTime: {{ $now | Quote }}
        status: "True"
        type: Ready
      containerStatuses:
      {{ range .spec.containers }}
      - image: {{ .image | Quote }}
        name: {{ .name | Quote }}
        ready: true
        restartCount: 0
        state:
          running:
            startedAt: {{ $now | Quote }}
      {{ end }}
      hostIP: {{ NodeIPWith .spec.nodeName | Quote }}
      podIP: {{ index (PodIPsWith .spec.nodeName false .metadata.uid .metadata.name .metadata.namespace) 0 | Quote }}
      phase: Running
    `,
  },
};
const removal: JsonObject = {
  selector: { matchExpressions: [exists(".metadata.deletionTimestamp")] },
  next: { finalizers: { empty: true }, delete: true },
};

suite("Stages", () => {
  let cluster: SimulatedCluster;
  const images = new ContainerImages();

  beforeEach(async () => {
    cluster = new SimulatedCluster();
    const { clock, access } = cluster.resources;
    await cluster.simulate({ behaviour: functionBehaviour(images, defaultBehaviour, { clock, access }) });
  });
  afterEach(() => cluster.stop());

  const add = async (name: string, spec: JsonObject) => {
    const object = { apiVersion: "kwok.x-k8s.io/v1alpha1", kind: "Stage", metadata: { name } };
    const value = { ...object, spec: { resourceRef: { apiGroup: "v1", kind: "Pod" }, ...spec } };
    const key = `${cluster.resources.keys.root}kwok.x-k8s.io/stages/${name}`;
    await cluster.store.put(key, Buffer.from(JSON.stringify(value)), 0);
    await cluster.clock.advance(0);
  };
  const phase = async (name: string) => (await cluster.pod(name))?.status?.phase;

  test("drive Pods after their delays, with templates, finalizers and Events", async () => {
    await add("ready", ready);
    await add("removal", removal);
    await cluster.run("web");
    await cluster.run("quick", {}, { annotations: { delay: "1s" } });
    assert.equal(await phase("web"), "Pending");
    await cluster.wait(1);
    assert.deepEqual([await phase("web"), await phase("quick")], ["Pending", "Running"]);
    await cluster.wait(4);
    const { status, metadata } = await cluster.stored("web");
    assert.deepEqual(
      [status?.phase, status?.podIP, status?.hostIP, status?.containerStatuses?.[0]?.state?.running?.startedAt],
      ["Running", "10.64.0.2", "172.16.0.2", cluster.now],
    );
    assert.deepEqual(metadata.finalizers, ["example.com/stage"]);
    assert.deepEqual(await cluster.news("web"), ["Normal Started: by a Stage"]);
    await cluster.client.delete(cluster.resource("pods"), { namespace: "default", name: "web" });
    await cluster.clock.advance(0);
    assert.equal(await cluster.pod("web"), undefined);
    assert.deepEqual(cluster.problems, []);
  });

  test("are chosen by their weights", async () => {
    const fail = { ...ready, next: { statusTemplate: "phase: Failed" }, delay: {} };
    await add("never", { ...fail, weight: 0 });
    await add("always", { ...ready, delay: {}, weight: 5 });
    for (const name of ["a", "b", "c"]) {
      await cluster.run(name);
      assert.equal(await phase(name), "Running");
    }
  });

  test("that were chosen are played although the Pod matches no Stage any more", async () => {
    await add("ready", { ...ready, next: { statusTemplate: "phase: Running" } });
    await cluster.run("web", {}, { finalizers: ["example.com/keep"] });
    await cluster.wait(2);
    await cluster.client.delete(cluster.resource("pods"), { namespace: "default", name: "web" });
    await cluster.wait(2);
    assert.equal(await phase("web"), "Pending");
    await cluster.wait(1);
    assert.equal(await phase("web"), "Running");
  });

  test("do only their Events after they have deleted the Pod", async () => {
    const event = { type: "Warning", reason: "Late", message: "after the deletion" };
    const patch = { subresource: "status", root: "status", template: "phase: Failed" };
    await add("removal", { selector: {}, steps: [{ delete: true }, { patch }, { event }] });
    await cluster.run("web", {}, { finalizers: ["example.com/keep"] });
    assert.equal(await phase("web"), "Pending");
    await cluster.hasNews("Warning Late: after the deletion", "web");
  });

  test("that are not supported are reported and ignored, and Pods run without them", async () => {
    await add("broken", { ...ready, next: { statusTemplate: "{{ sprigNews }}" } });
    await cluster.run("web");
    assert.equal(await phase("web"), "Running");
    assert.match(String(cluster.problems[0]), /Stage broken is ignored/);
  });

  test("do not apply to Pods whose containers have functions", async () => {
    images.set("own", { ready: () => true });
    await add("ready", ready);
    await cluster.run("web", { containers: [{ name: "main", image: "own" }] });
    assert.equal(await phase("web"), "Running");
  });
});
