import assert from "node:assert/strict";
import { afterEach, beforeEach, suite, test } from "node:test";
import type { JsonObject } from "../../../../base/api/object.ts";
import type { EndpointSlice } from "../../../../kinds/types/endpoint-slice.ts";
import type { EndpointSubset } from "../../../../kinds/types/endpoints.ts";
import { until } from "../../shared/controllers.suite.ts";
import { ServiceCluster } from "../services.suite.ts";
import { endpointSliceMirroring } from "./endpointslice-mirroring.ts";

const NO_SELECTOR = { selector: null };
const SUBSET = { addresses: [{ ip: "10.1.0.1", nodeName: "n" }], ports: [{ name: "http", port: 80 }] };

suite("endpointslice-mirroring-controller", () => {
  let cluster: ServiceCluster;

  beforeEach(async () => {
    cluster = new ServiceCluster();
    await cluster.prepare();
    cluster.start(endpointSliceMirroring(cluster));
  });
  afterEach(() => cluster.end());

  const addEndpoints = (subsets: readonly EndpointSubset[], metadata: JsonObject = {}) =>
    cluster.client.create(cluster.resource("endpoints"), {
      kind: "Endpoints",
      apiVersion: "v1",
      metadata: { name: "db", namespace: "default", ...metadata },
      subsets: [...subsets],
    });
  const slices = () => cluster.list<EndpointSlice>("endpointslices");
  const addresses = async () =>
    (await slices()).flatMap(({ endpoints }) => endpoints ?? []).flatMap((one) => one.addresses);
  const has = (...wanted: string[]) => until(async () => (await addresses()).sort().join() === wanted.join());

  test("copies addresses, ports, labels and annotations", async () => {
    await cluster.addService("db", NO_SELECTOR);
    const labels = { team: "red" };
    const annotations = { note: "x", "kubectl.kubernetes.io/last-applied-configuration": "{}" };
    const { metadata } = await addEndpoints([SUBSET], { labels, annotations });
    await has("10.1.0.1");
    const [slice] = await slices();
    assert.match(slice?.metadata.name ?? "", /^db-[a-z0-9]{5}$/);
    assert.deepEqual(slice?.metadata.labels, {
      team: "red",
      "endpointslice.kubernetes.io/managed-by": "endpointslicemirroring-controller.k8s.io",
      "kubernetes.io/service-name": "db",
    });
    assert.deepEqual(slice?.metadata.annotations, { note: "x" });
    assert.equal(slice?.metadata.ownerReferences?.[0]?.uid, metadata.uid);
    assert.deepEqual(slice?.ports, [{ name: "http", port: 80, protocol: "TCP" }]);
    assert.deepEqual(slice?.endpoints, [{ addresses: ["10.1.0.1"], conditions: { ready: true }, nodeName: "n" }]);
  });

  test("has one slice per family and set of ports, and reuses slices", async () => {
    await cluster.addService("db", NO_SELECTOR);
    const other = { notReadyAddresses: [{ ip: "10.1.0.2" }, { ip: "fd00::1" }], ports: [{ port: 90 }] };
    await addEndpoints([{ ...SUBSET, ports: [{ port: 80 }] }, other]);
    await has("10.1.0.1", "10.1.0.2", "fd00::1");
    assert.equal((await slices()).length, 3);
    const names = new Set((await slices()).map(({ metadata }) => metadata.name));
    await cluster.patch("endpoints", "db", { subsets: [{ ...SUBSET, ports: [{ port: 81 }] }] });
    await has("10.1.0.1");
    const [only] = await slices();
    assert.ok(names.has(only?.metadata.name));
    assert.equal(only?.ports?.[0]?.port, 81);
  });

  test("deletes slices if the Service gets a selector or is gone, or its Endpoints are", async () => {
    await addEndpoints([SUBSET]);
    await cluster.addService("db", NO_SELECTOR);
    await has("10.1.0.1");
    await cluster.patch("services", "db", { spec: { selector: { app: "db" } } });
    await has();
    await cluster.patch("services", "db", { spec: { selector: null } });
    await has("10.1.0.1");
    await cluster.patch("endpoints", "db", {
      metadata: { labels: { "endpointslice.kubernetes.io/skip-mirror": "true" } },
    });
    await has();
    await cluster.patch("endpoints", "db", {
      metadata: { labels: { "endpointslice.kubernetes.io/skip-mirror": null } },
    });
    await has("10.1.0.1");
    await cluster.delete("services", "db");
    await has();
  });

  test("skips addresses above 1000 and records an Event", async () => {
    await cluster.addService("db", NO_SELECTOR);
    const many = Array.from({ length: 1002 }, (_, at) => ({ ip: `10.2.${at >> 8}.${at & 255}` }));
    await addEndpoints([{ addresses: many }]);
    await until(async () => (await addresses()).length === 1000);
    await until(async () => (await cluster.events("db")).length === 1);
    const [message] = await cluster.events("db");
    assert.equal(
      message,
      "A max of 1000 addresses can be mirrored to EndpointSlices per Endpoints subset. 2 addresses were skipped",
    );
  });
});
