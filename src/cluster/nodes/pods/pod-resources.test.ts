import assert from "node:assert/strict";
import { afterEach, beforeEach, suite, test } from "node:test";
import type { JsonObject } from "../../../base/api/object.ts";
import { SimulatedCluster } from "../nodes.suite.ts";

suite("the resources of a simulated node", () => {
  let cluster: SimulatedCluster;

  beforeEach(async () => {
    cluster = new SimulatedCluster();
    await cluster.simulate({ capacity: { cpu: "4", memory: "8Gi", pods: "3" } });
  });
  afterEach(() => cluster.end());

  const withCpu = (cpu: string, more: JsonObject = {}) => ({
    containers: [{ name: "main", image: "nginx", resources: { requests: { cpu } }, ...more }],
  });
  const resize = async (name: string, cpu: string) => {
    const spec = { containers: [{ name: "main", resources: { requests: { cpu } } }] };
    const options = { isStrategic: true, subresource: "resize" };
    await cluster.client.patch(cluster.resource("pods"), { namespace: "default", name }, { spec }, options);
    await cluster.clock.advance(0);
  };
  const first = async (name: string) => (await cluster.stored(name)).status?.containerStatuses?.[0] ?? {};

  test("are limited: Pods that need more are rejected", async () => {
    await cluster.run("one", withCpu("3"));
    await cluster.run("large", withCpu("1500m"));
    const { status = {} } = await cluster.stored("large");
    assert.deepEqual(
      [status.phase, status.reason, status.message],
      [
        "Failed",
        "OutOfcpu",
        "Pod was rejected: Node didn't have enough resource: cpu, requested: 1500, used: 3000, capacity: 4000",
      ],
    );
    await cluster.run("two", withCpu("1"));
    await cluster.run("three");
    await cluster.run("four");
    const phases = await Promise.all(
      ["one", "two", "three"].map(async (name) => (await cluster.stored(name)).status?.phase),
    );
    assert.deepEqual(phases, ["Running", "Running", "Running"]);
    assert.equal((await cluster.stored("four")).status?.reason, "OutOfpods");
  });

  test("can be resized in place", async () => {
    await cluster.run("web", withCpu("1"));
    await resize("web", "2");
    const { resources, allocatedResources, restartCount } = await first("web");
    assert.deepEqual([resources, allocatedResources, restartCount], [{ requests: { cpu: "2" } }, { cpu: "2" }, 0]);
    const text = '{"containers":[{"name":"main","resources":{"requests":{"cpu":"2"}}}],"generation":2}';
    assert.deepEqual((await cluster.news("web")).slice(4), [
      `Normal ResizeStarted: Pod resize started: ${text}`,
      `Normal ResizeCompleted: Pod resize completed: ${text}`,
    ]);
  });

  test("that a container cannot get now are pending", async () => {
    await cluster.run("other", withCpu("2"));
    await cluster.run("web", withCpu("1"));
    await resize("web", "3");
    const { status } = await cluster.stored("web");
    const [pending] = status?.conditions ?? [];
    assert.deepEqual(
      [pending?.type, pending?.reason, pending?.observedGeneration],
      ["PodResizePending", "Deferred", 2],
    );
    assert.deepEqual((await first("web")).allocatedResources, { cpu: "1" });
    await cluster.client.delete(cluster.resource("pods"), { namespace: "default", name: "other" });
    await cluster.wait(180);
    assert.deepEqual((await first("web")).allocatedResources, { cpu: "3" });
    assert.equal((await cluster.stored("web")).status?.conditions?.[0]?.type, "PodReadyToStartContainers");
  });

  test("restart a container when they change, if its policy says so", async () => {
    const resizePolicy = [{ resourceName: "cpu", restartPolicy: "RestartContainer" }];
    await cluster.run("web", withCpu("1", { resizePolicy }));
    await resize("web", "2");
    assert.equal((await first("web")).restartCount, 1);
    assert.equal((await first("web")).ready, true);
  });

  test("of a whole Pod are limited, shown and resized", async () => {
    const podLevel = (cpu: string) => ({ requests: { cpu, memory: "1Gi" }, limits: { memory: "2Gi" } });
    await cluster.run("large", { ...withCpu("1"), resources: podLevel("5") });
    assert.equal((await cluster.stored("large")).status?.reason, "OutOfcpu");
    await cluster.run("web", { ...withCpu("1"), resources: podLevel("2") });
    const shown = async () => {
      const { resources, allocatedResources } = (await cluster.stored("web")).status ?? {};
      return { resources, allocatedResources };
    };
    const expected = (cpu: string) => ({ resources: podLevel(cpu), allocatedResources: podLevel(cpu).requests });
    assert.deepEqual(await shown(), expected("2"));
    const options = { isStrategic: true, subresource: "resize" };
    const spec = { resources: podLevel("3") };
    await cluster.client.patch(cluster.resource("pods"), { namespace: "default", name: "web" }, { spec }, options);
    await cluster.clock.advance(0);
    assert.deepEqual(await shown(), expected("3"));
    assert.match(
      (await cluster.news("web")).at(-1) ?? "",
      /^Normal ResizeCompleted: Pod resize completed: \{"containers":\[/,
    );
  });
});
