import assert from "node:assert/strict";
import { afterEach, beforeEach, suite, test } from "node:test";
import type { Endpoints } from "../../../../kinds/types/endpoints.ts";
import { until } from "../../shared/controllers.suite.ts";
import { ServiceCluster } from "../services.suite.ts";
import { endpoints } from "./endpoints.ts";

suite("endpoints-controller", () => {
  let cluster: ServiceCluster;

  beforeEach(async () => {
    cluster = new ServiceCluster();
    await cluster.prepare();
  });
  afterEach(() => cluster.end());

  const start = () => cluster.start(endpoints(cluster));
  const find = async (name = "web") => (await cluster.find("endpoints", name)) as Endpoints | undefined;
  const has = (test: (one: Endpoints) => boolean) =>
    until(async () => {
      const found = await find();
      return found !== undefined && test(found);
    });
  const readyCount = ({ subsets = [] }: Endpoints) => subsets.flatMap(({ addresses = [] }) => addresses).length;

  test("writes ready and other addresses", async () => {
    start();
    await cluster.addService("web", { clusterIP: "None" }, { labels: { team: "red" } });
    const one = await cluster.addPod("one", "10.0.0.1");
    const two = await cluster.addPod("two", "10.0.0.2", { isReady: false });
    await has(({ subsets = [] }) => subsets[0]?.notReadyAddresses?.length === 1 && subsets[0]?.addresses?.length === 1);
    const found = await find();
    assert.deepEqual(found?.metadata.labels, {
      team: "red",
      "endpoints.kubernetes.io/managed-by": "endpoint-controller",
      "service.kubernetes.io/headless": "",
    });
    const reference = ({ metadata: { name = "", uid = "" } }: typeof one) => ({
      ...{ kind: "Pod", namespace: "default", name, uid },
    });
    assert.deepEqual(found?.subsets, [
      {
        addresses: [{ ip: "10.0.0.1", nodeName: "node-1", targetRef: reference(one) }],
        notReadyAddresses: [{ ip: "10.0.0.2", nodeName: "node-1", targetRef: reference(two) }],
        ports: [{ port: 80, protocol: "TCP" }],
      },
    ]);
  });

  test("follows Pods and labels, and leaves out Pods that are being deleted", async () => {
    start();
    await cluster.addService("web");
    await has((one) => readyCount(one) === 0);
    await cluster.addPod("one", "10.0.0.1");
    await has((one) => readyCount(one) === 1);
    await cluster.patch("services", "web", { metadata: { labels: { team: "blue" } } });
    await has(({ metadata }) => metadata.labels?.team === "blue");
    assert.equal((await find())?.metadata.annotations, undefined);
    await cluster.delete("pods", "one");
    await has((one) => readyCount(one) === 0);
  });

  test("creates deleted Endpoints again, and deletes those of a deleted Service", async () => {
    start();
    await cluster.addService("web");
    await has(() => true);
    const { uid } = (await find())?.metadata ?? {};
    await cluster.delete("endpoints", "web");
    await has(({ metadata }) => metadata.uid !== uid);
    await cluster.delete("services", "web");
    await until(async () => (await find()) === undefined);
  });

  test("deletes leftovers at the start, but no Endpoints that are created later", async () => {
    await cluster.create("endpoints", "left");
    const leader = { metadata: { annotations: { "control-plane.alpha.kubernetes.io/leader": "{}" } } };
    await cluster.create("endpoints", "leader");
    await cluster.patch("endpoints", "leader", leader);
    start();
    await until(async () => (await find("left")) === undefined);
    await cluster.create("endpoints", "own");
    await cluster.addService("web");
    await has(() => true);
    assert.ok((await find("own")) && (await find("leader")));
  });
});
