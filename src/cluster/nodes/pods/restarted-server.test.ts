import assert from "node:assert/strict";
import { afterEach, beforeEach, suite, test } from "node:test";
import type { ContainerProcess } from "../behaviour/behaviour.ts";
import { defaultBehaviour } from "../behaviour/default-behaviour.ts";
import { SimulatedCluster } from "../nodes.suite.ts";

suite("a server that starts again", () => {
  let cluster: SimulatedCluster;

  beforeEach(() => {
    cluster = new SimulatedCluster();
  });
  afterEach(() => cluster.end());

  const revision = async () => (await cluster.store.list("/registry/pods/")).revision;

  test("does not restart containers and writes nothing about Pods that run", async () => {
    await cluster.simulate();
    const initContainers = [{ name: "side", image: "proxy", restartPolicy: "Always" }];
    for (const name of ["a", "b"]) await cluster.run(name, { initContainers });
    const before = await cluster.pods();
    await cluster.stopNodes();
    const stopped = await revision();
    await cluster.simulate();
    assert.deepEqual(await cluster.pods(), before);
    assert.equal(await revision(), stopped);
    await cluster.run("c");
    assert.equal((await cluster.stored("c")).status?.podIP, "10.64.0.4");
  });

  test("continues with a Pod where it was", async () => {
    await cluster.simulate();
    const owner = { apiVersion: "batch/v1", kind: "Job", name: "pi", uid: "1", controller: true };
    await cluster.run("job", { restartPolicy: "Never" }, { ownerReferences: [owner] });
    await cluster.run("init", { initContainers: [{ name: "one", image: "init" }] });
    await cluster.run("old");
    await cluster.stopNodes();
    await cluster.client.delete(cluster.resource("pods"), { namespace: "default", name: "old" });
    await cluster.wait(5);
    await cluster.simulate();
    assert.equal((await cluster.stored("job")).status?.phase, "Succeeded");
    assert.equal((await cluster.stored("init")).status?.phase, "Running");
    assert.equal(await cluster.pod("old"), undefined);
  });

  test("keeps the delay of a container that crashes", async () => {
    const crashing = {
      ...defaultBehaviour,
      start: ({ startedMs }: { startedMs: number }): ContainerProcess => ({
        exit: { atMs: startedMs, code: 1 },
        health: () => ({ isStarted: true, isReady: true }),
        stop: () => {},
        close: () => {},
      }),
    };
    await cluster.simulate({ behaviour: crashing });
    await cluster.run("web");
    const first = async () => (await cluster.stored("web")).status?.containerStatuses?.[0];
    await cluster.wait(10);
    assert.match((await first())?.state?.waiting?.message ?? "", /^back-off 20s /);
    await cluster.stopNodes();
    await cluster.simulate({ behaviour: crashing });
    assert.match((await first())?.state?.waiting?.message ?? "", /^back-off 20s /);
    assert.equal((await first())?.restartCount, 2);
    await cluster.wait(20);
    assert.equal((await first())?.restartCount, 3);
  });
});
