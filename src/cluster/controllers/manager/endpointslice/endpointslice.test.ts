import assert from "node:assert/strict";
import { afterEach, beforeEach, suite, test } from "node:test";
import type { JsonObject } from "../../../../base/api/object.ts";
import type { EndpointSlice } from "../../../../kinds/types/endpoint-slice.ts";
import { until } from "../../shared/controllers.suite.ts";
import { ServiceCluster } from "../services.suite.ts";
import { endpointSlices } from "./endpointslice.ts";

suite("endpointslice-controller", () => {
  let cluster: ServiceCluster;

  beforeEach(async () => {
    cluster = new ServiceCluster();
    await cluster.prepare();
    cluster.start(endpointSlices(cluster));
  });
  afterEach(() => cluster.end());

  const slices = () => cluster.list<EndpointSlice>("endpointslices");
  const endpoints = async () => (await slices()).flatMap((slice) => slice.endpoints ?? []);
  const addresses = async () => (await endpoints()).flatMap((one) => one.addresses).sort();
  const hasAddresses = (...wanted: string[]) => until(async () => (await addresses()).join() === wanted.join());
  const hasSlices = (count: number) => until(async () => (await slices()).length === count);

  test("writes the addresses, ports and conditions of selected Pods", async () => {
    const service = await cluster.addService("web", {}, { labels: { team: "red" } });
    const pod = await cluster.addPod("one", "10.0.0.1");
    await hasAddresses("10.0.0.1");
    const [slice] = await slices();
    assert.match(slice?.metadata.name ?? "", /^web-[a-z0-9]{5}$/);
    assert.deepEqual(slice?.metadata.labels, {
      team: "red",
      "endpointslice.kubernetes.io/managed-by": "endpointslice-controller.k8s.io",
      "kubernetes.io/service-name": "web",
    });
    const { uid = "" } = service.metadata;
    const owner = { apiVersion: "v1", kind: "Service", name: "web", uid, controller: true, blockOwnerDeletion: true };
    assert.deepEqual(slice?.metadata.ownerReferences, [owner]);
    assert.deepEqual(slice?.ports, [{ name: "", port: 80, protocol: "TCP" }]);
    assert.deepEqual(slice?.endpoints, [
      {
        addresses: ["10.0.0.1"],
        conditions: { ready: true, serving: true, terminating: false },
        targetRef: { kind: "Pod", namespace: "default", name: "one", uid: pod.metadata.uid },
        nodeName: "node-1",
        zone: "a",
      },
    ]);
  });

  test("creates an empty slice for a Service without Pods, and reuses it", async () => {
    await cluster.addService("web", { clusterIP: "None" });
    await hasSlices(1);
    const [empty] = await slices();
    assert.deepEqual(empty?.endpoints ?? [], []);
    assert.equal(empty?.metadata.labels?.["service.kubernetes.io/headless"], "");
    await cluster.addPod("one", "10.0.0.1");
    await hasAddresses("10.0.0.1");
    await cluster.delete("pods", "one", { gracePeriodSeconds: 0 });
    await hasAddresses();
    assert.deepEqual(
      (await slices()).map(({ metadata }) => metadata.name),
      [empty?.metadata.name],
    );
  });

  test("follows readiness, deletion and the end of Pods", async () => {
    await cluster.addService("web");
    await cluster.addPod("one", "10.0.0.1");
    const conditions = async () => (await endpoints())[0]?.conditions;
    await until(async () => (await conditions())?.ready === true);
    await cluster.setReady("one", false);
    await until(async () => (await conditions())?.ready === false);
    await cluster.setReady("one", true);
    await until(async () => (await conditions())?.serving === true);
    await cluster.delete("pods", "one");
    await until(async () => (await conditions())?.terminating === true);
    assert.deepEqual(await conditions(), { ready: false, serving: true, terminating: true });
  });

  test("publishes Pods that are not ready if the Service asks for them", async () => {
    await cluster.addService("web", { publishNotReadyAddresses: true });
    await cluster.addPod("one", "10.0.0.1", { isReady: false });
    await hasAddresses("10.0.0.1");
    assert.deepEqual((await endpoints())[0]?.conditions, { ready: true, serving: false, terminating: false });
  });

  test("groups Pods by the numbers of their named ports", async () => {
    await cluster.addService("web", { ports: [{ port: 80, targetPort: "http" }] });
    const withPort = (containerPort: number) => ({ ports: [{ name: "http", containerPort }] });
    await cluster.addPod("one", "10.0.0.1", { container: withPort(80) });
    await cluster.addPod("two", "10.0.0.2", { container: withPort(8080) });
    await cluster.addPod("three", "10.0.0.3");
    await hasAddresses("10.0.0.1", "10.0.0.2", "10.0.0.3");
    const ports = (await slices()).map((slice) => [slice.ports?.[0]?.port, slice.endpoints?.[0]?.addresses[0]]);
    const wanted = [[80, "10.0.0.1"], [8080, "10.0.0.2"], [undefined, "10.0.0.3"]]; // biome-ignore format: a table
    assert.deepEqual(ports.sort(), wanted.sort());
  });

  test("follows changes of the selector and of labels", async () => {
    await cluster.addService("web");
    await cluster.addPod("one", "10.0.0.1");
    await cluster.addPod("two", "10.0.0.2", { labels: { app: "other" } });
    await hasAddresses("10.0.0.1");
    await cluster.patch("services", "web", { spec: { selector: { app: "other" } } });
    await hasAddresses("10.0.0.2");
    await cluster.patch("pods", "one", { metadata: { labels: { app: "other" } } });
    await hasAddresses("10.0.0.1", "10.0.0.2");
    await cluster.patch("services", "web", { metadata: { labels: { team: "blue" } } });
    await until(async () => (await slices()).every(({ metadata }) => metadata.labels?.team === "blue"));
  });

  test("fills slices with up to 100 endpoints", async () => {
    for (let index = 0; index < 150; index++) await cluster.addPod(`pod-${index}`, `10.0.1.${index}`);
    await cluster.addService("web");
    await until(async () => (await endpoints()).length === 150);
    assert.deepEqual((await slices()).map((slice) => slice.endpoints?.length).sort(), [100, 50]);
    await cluster.addPod("late", "10.0.2.1");
    await until(async () => (await endpoints()).length === 151);
    assert.deepEqual((await slices()).map((slice) => slice.endpoints?.length).sort(), [100, 51]);
  });

  test("repairs slices that others change or delete", async () => {
    await cluster.addService("web");
    await cluster.addPod("one", "10.0.0.1");
    await hasAddresses("10.0.0.1");
    const [first] = await slices();
    await cluster.change("endpointslices", first?.metadata.name ?? "", (slice) => {
      slice.endpoints = [];
      slice.metadata.generation = 7;
    });
    await hasAddresses("10.0.0.1");
    await cluster.delete("endpointslices", first?.metadata.name ?? "");
    await hasAddresses("10.0.0.1");
  });

  test("sets hints by trafficDistribution, and removes them", async () => {
    await cluster.addService("web", { trafficDistribution: "PreferSameNode" });
    await cluster.addPod("one", "10.0.0.1");
    await until(async () => (await endpoints())[0]?.hints !== undefined);
    const hints = { forZones: [{ name: "a" }], forNodes: [{ name: "node-1" }] };
    assert.deepEqual((await endpoints())[0]?.hints, hints);
    await cluster.patch("services", "web", { spec: { trafficDistribution: null } });
    await until(async () => (await endpoints())[0]?.hints === undefined);
  });

  test("sets hints by the CPUs of zones if an annotation asks for them", async () => {
    const ready = { allocatable: { cpu: "2" }, conditions: [{ type: "Ready", status: "True" }] };
    await cluster.addNode("node-a", { "topology.kubernetes.io/zone": "a" }, ready);
    await cluster.addNode("node-b", { "topology.kubernetes.io/zone": "b" }, ready);
    for (let at = 1; at <= 4; at++) await cluster.addPod(`pod-${at}`, `10.0.0.${at}`, { spec: { nodeName: "node-a" } });
    await cluster.addService("web", {}, { annotations: { "service.kubernetes.io/topology-mode": "Auto" } });
    const zones = async () =>
      (await endpoints()).flatMap(({ hints }) => hints?.forZones?.map(({ name }) => name) ?? []);
    await until(async () => (await zones()).length === 4);
    assert.deepEqual((await zones()).sort(), ["a", "a", "b", "b"]);
    await cluster.delete("nodes", "node-b");
    await until(async () => (await zones()).length === 0);
    await until(async () => (await cluster.events("web")).length === 2);
    const why = "Insufficient Node information: allocatable CPU or zone not specified on one or more nodes";
    assert.deepEqual((await cluster.events("web")).sort(), [
      `${why}, addressType: IPv4`,
      "Topology Aware Hints has been enabled, addressType: IPv4",
    ]);
  });

  test("syncs only the Services that select a Pod", async (t) => {
    for (let at = 0; at < 50; at++) await cluster.addService(`other-${at}`, { selector: { app: `other-${at}` } });
    await cluster.addService("web");
    await hasSlices(51);
    const writes = t.mock.method(cluster.store, "put").mock;
    await cluster.addPod("one", "10.0.0.1");
    await hasAddresses("10.0.0.1");
    // Two for the Pod, one for its slice.
    assert.equal(writes.callCount(), 3);
  });

  test("writes no slices for Services without a selector or with an external name", async () => {
    await cluster.addService("bare", { selector: null as unknown as JsonObject });
    await cluster.addService("outside", { type: "ExternalName", externalName: "example.com" });
    await cluster.addService("web");
    await hasSlices(1);
    assert.equal((await slices())[0]?.metadata.labels?.["kubernetes.io/service-name"], "web");
  });
});
