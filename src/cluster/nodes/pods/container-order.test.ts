import assert from "node:assert/strict";
import { afterEach, beforeEach, suite, test } from "node:test";
import type { JsonObject } from "../../../base/api/object.ts";
import type { ContainerDefinition, ContainerFunction } from "../../../serving/connect/handlers/container-functions.ts";
import { ContainerImages } from "../behaviour/container-images.ts";
import { defaultBehaviour } from "../behaviour/default-behaviour.ts";
import { functionBehaviour } from "../behaviour/function-behaviour.ts";
import { SimulatedCluster } from "../nodes.suite.ts";

const ALWAYS = { restartPolicy: "Always" };
/** A container whose image is its name. */
const container = (name: string, more: JsonObject = {}) => ({ name, image: name, ...more });

suite("the containers of a Pod", () => {
  let cluster: SimulatedCluster;
  let images: ContainerImages;
  /** What happened to containers, in order. */
  let log: string[];

  beforeEach(async () => {
    cluster = new SimulatedCluster();
    images = new ContainerImages();
    log = [];
    const { clock, access } = cluster.resources;
    await cluster.simulate({ behaviour: functionBehaviour(images, defaultBehaviour, { clock, access }) });
  });
  afterEach(() => cluster.end());

  const second = () => Math.round((cluster.clock.now() - Date.parse("2026-01-01T00:00:00Z")) / 1000);
  /** Runs until it is stopped and then takes so many seconds to end. */
  const server =
    (name: string, slowness = 0): ContainerFunction =>
    async ({ signal }) => {
      log.push(`${second()} ${name} starts`);
      await new Promise((resolve) => signal.addEventListener("abort", resolve, { once: true }));
      if (slowness > 0) await cluster.clock.sleep(slowness * 1000);
      log.push(`${second()} ${name} ends`);
    };
  const exits =
    (name: string, ...codes: number[]): ContainerFunction =>
    ({ restartCount }) => {
      log.push(`${second()} ${name} starts`);
      return codes[Math.min(restartCount, codes.length - 1)];
    };
  const set = (functions: Record<string, ContainerFunction | ContainerDefinition>) => {
    for (const [image, one] of Object.entries(functions)) images.set(image, one);
  };
  const status = async () => (await cluster.stored("web")).status ?? {};
  const remove = (more: JsonObject = {}) =>
    cluster.client.delete(cluster.resource("pods"), { namespace: "default", name: "web" }, more);

  for (const [restartPolicy, phase, restartCount, state] of [
    ["Never", "Failed", 0, "terminated"],
    ["OnFailure", "Pending", 1, "waiting"],
    ["Always", "Pending", 1, "waiting"],
  ] as const) {
    test(`an init container that fails with restartPolicy ${restartPolicy}: the Pod is ${phase}`, async () => {
      set({ first: exits("first", 3), second: exits("second", 0), main: server("main") });
      await cluster.run("web", {
        ...{ restartPolicy, initContainers: [container("first"), container("second")] },
        containers: [container("main")],
      });
      await cluster.wait(1);
      const { initContainerStatuses: [first, next] = [], containerStatuses: [main] = [], ...rest } = await status();
      assert.deepEqual(
        [rest.phase, first?.restartCount, Object.keys(first?.state ?? {})],
        [phase, restartCount, [state]],
      );
      assert.equal((first?.state?.terminated ?? first?.lastState?.terminated)?.exitCode, 3);
      assert.deepEqual(
        [next?.state?.waiting?.reason, main?.state?.waiting?.reason],
        ["PodInitializing", "PodInitializing"],
      );
      if (restartPolicy !== "Never") assert.equal(first?.state?.waiting?.reason, "CrashLoopBackOff");
      await cluster.wait(60);
      const starts = { Never: ["0"], OnFailure: ["0", "0", "10", "30"], Always: ["0", "0", "10", "30"] };
      assert.deepEqual(
        log,
        starts[restartPolicy].map((at) => `${at} first starts`),
      );
    });
  }

  test("an init container that fails and then succeeds lets the next one start", async () => {
    set({ first: exits("first", 1, 0), main: server("main") });
    await cluster.run("web", { initContainers: [container("first")], containers: [container("main")] });
    await cluster.wait(1);
    assert.deepEqual(log, ["0 first starts", "0 first starts", "0 main starts"]);
    assert.equal((await status()).phase, "Running");
  });

  test("sidecars start in order, each before the next container and after its startup probe", async () => {
    set({
      one: { run: server("one"), started: ({ since }) => since >= 4000 },
      init: exits("init", 0),
      two: server("two"),
      main: server("main"),
    });
    const startupProbe = { exec: { command: ["ok"] }, periodSeconds: 2 };
    await cluster.run("web", {
      initContainers: [container("one", { ...ALWAYS, startupProbe }), container("init"), container("two", ALWAYS)],
      containers: [container("main")],
    });
    await cluster.wait(10);
    assert.deepEqual(log, ["0 one starts", "4 init starts", "4 two starts", "4 main starts"]);
  });

  test("sidecars end after all others, in reverse order", async () => {
    set({ one: server("one", 1), two: server("two", 1), main: server("main", 3), other: server("other") });
    await cluster.run("web", {
      initContainers: [container("one", ALWAYS), container("two", ALWAYS)],
      containers: [container("main"), container("other")],
    });
    log = [];
    await remove();
    await cluster.wait(10);
    assert.deepEqual(log, ["0 other ends", "3 main ends", "4 two ends", "5 one ends"]);
    assert.equal(await cluster.pod("web"), undefined);
  });

  test("sidecars do not wait longer than the grace period", async () => {
    set({ side: server("side"), main: () => new Promise(() => {}) });
    const spec = { initContainers: [container("side", ALWAYS)], terminationGracePeriodSeconds: 5 };
    await cluster.run("web", { ...spec, containers: [container("main")] });
    log = [];
    await remove();
    await cluster.wait(5);
    assert.deepEqual(log, ["5 side ends"]);
    assert.equal(await cluster.pod("web"), undefined);
  });

  test("a sidecar that fails is restarted, also if the Pod is not", async () => {
    set({ side: exits("side", 1), main: server("main") });
    const initContainers = [container("side", { ...ALWAYS, image: "side" })];
    await cluster.run("web", { restartPolicy: "Never", initContainers, containers: [container("main")] });
    await cluster.wait(31);
    assert.deepEqual(
      log.filter((line) => line.includes("side")),
      ["0 side starts", "0 side starts", "10 side starts", "30 side starts"],
    );
  });

  test("preStop hooks run before containers are stopped, within the grace period", async () => {
    const exec: ContainerDefinition["exec"] = async ({ command }) => {
      log.push(`${second()} ${command.join(" ")}`);
      await cluster.clock.sleep(2000);
    };
    set({ quick: { run: server("quick"), exec }, slow: server("slow", 60) });
    const preStop = { exec: { command: ["drain"] } };
    await cluster.run("web", {
      terminationGracePeriodSeconds: 5,
      containers: [
        container("quick", { lifecycle: { preStop } }),
        container("slow", { lifecycle: { preStop: { sleep: { seconds: 4 } } } }),
      ],
    });
    log = [];
    await remove();
    await cluster.wait(5);
    assert.deepEqual(log, ["0 drain", "2 quick ends"]);
    // Its hook took 4 of 5 seconds. Containers have at least two seconds to end.
    assert.notEqual((await status()).containerStatuses?.[1]?.state?.running, undefined);
    await cluster.wait(1);
    assert.equal(await cluster.pod("web"), undefined);
  });

  test("a preStop hook that fails is reported, and the container stopped", async () => {
    set({ main: { run: server("main"), exec: () => 1 } });
    await cluster.run("web", {
      containers: [container("main", { lifecycle: { preStop: { exec: { command: ["x"] } } } })],
    });
    await remove();
    await cluster.wait(1);
    assert.equal(await cluster.pod("web"), undefined);
    await cluster.hasNews("Warning FailedPreStopHook: PreStopHook failed", "web");
  });

  test("the grace period of a deletion replaces that of the Pod", async () => {
    set({ main: () => new Promise(() => {}) });
    await cluster.run("web", { containers: [container("main")], terminationGracePeriodSeconds: 300 });
    await remove({ gracePeriodSeconds: 7 });
    await cluster.wait(6);
    assert.notEqual(await cluster.pod("web"), undefined);
    await cluster.wait(1);
    assert.equal(await cluster.pod("web"), undefined);
  });

  test("a Pod past its active deadline fails when its containers have stopped", async () => {
    set({ main: server("main", 3) });
    await cluster.run("web", { containers: [container("main")], activeDeadlineSeconds: 10 });
    await cluster.wait(12);
    assert.deepEqual([(await status()).phase, (await status()).reason], ["Running", undefined]);
    await cluster.wait(1);
    assert.deepEqual([(await status()).phase, (await status()).reason], ["Failed", "DeadlineExceeded"]);
    assert.deepEqual(log, ["0 main starts", "13 main ends"]);
    assert.notEqual((await status()).containerStatuses?.[0]?.state?.terminated, undefined);
    assert.equal((await cluster.news("web")).filter((line) => line.includes("DeadlineExceeded")).length, 1);
  });

  test("an ephemeral container that fails is not restarted and does not change the phase", async () => {
    set({ main: server("main"), debug: exits("debug", 4) });
    await cluster.run("web", { containers: [container("main")] });
    const key = { namespace: "default", name: "web" };
    const options = { isStrategic: true, subresource: "ephemeralcontainers" };
    const spec = { ephemeralContainers: [container("debug")] };
    await cluster.client.patch(cluster.resource("pods"), key, { spec }, options);
    await cluster.wait(60);
    const { phase, conditions = [], ephemeralContainerStatuses: [debug] = [] } = await status();
    assert.deepEqual([phase, debug?.restartCount, debug?.state?.terminated?.exitCode], ["Running", 0, 4]);
    assert.equal(conditions.find(({ type }) => type === "Ready")?.status, "True");
    assert.deepEqual(log, ["0 main starts", "0 debug starts"]);
  });
});
