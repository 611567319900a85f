import assert from "node:assert/strict";
import { afterEach, beforeEach, suite, test } from "node:test";
import type { JsonObject } from "../../../base/api/object.ts";
import type { ContainerDefinition } from "../../../serving/connect/handlers/container-functions.ts";
import { SimulatedCluster } from "../nodes.suite.ts";
import type { ContainerImages } from "./container-images.ts";

suite("probes of containers", () => {
  let cluster: SimulatedCluster;
  let images: ContainerImages;

  beforeEach(async () => {
    cluster = new SimulatedCluster();
    images = await cluster.simulateFunctions();
  });
  afterEach(() => cluster.end());

  const run = async (definition: ContainerDefinition, container: JsonObject, spec: JsonObject = {}) => {
    images.set("app", definition);
    await cluster.run("web", { containers: [{ name: "main", image: "app", ...container }], ...spec });
  };
  const first = async () => (await cluster.stored("web")).status?.containerStatuses?.[0] ?? {};
  const news = async (reason: string) => (await cluster.news("web")).filter((line) => line.includes(reason));
  const http = { httpGet: { path: "/", port: 80 } };
  const status = (code: () => number) => ({ http: () => new Response("", { status: code() }) });

  test("begin at the first tick after initialDelaySeconds, and then once per periodSeconds", async () => {
    const times: number[] = [];
    const definition = { healthy: ({ since }: { since: number }) => times.push(since / 1000) > 0 };
    await run(definition, { livenessProbe: { ...http, initialDelaySeconds: 5, periodSeconds: 4 } });
    await cluster.wait(20);
    assert.deepEqual(times, [8, 12, 16, 20]);
  });

  test("of readiness need failureThreshold failures and successThreshold successes in a row", async () => {
    let code = 200;
    const probe = { ...http, periodSeconds: 1, failureThreshold: 3, successThreshold: 2 };
    await run(
      status(() => code),
      { readinessProbe: probe },
    );
    assert.equal((await first()).ready, false);
    await cluster.wait(1);
    assert.equal((await first()).ready, true);
    code = 500;
    await cluster.wait(2);
    assert.equal((await first()).ready, true);
    await cluster.wait(1);
    assert.equal((await first()).ready, false);
    assert.equal((await cluster.stored("web")).status?.phase, "Running");
    code = 200;
    await cluster.wait(1);
    assert.equal((await first()).ready, false);
    await cluster.wait(1);
    assert.deepEqual([(await first()).ready, (await first()).restartCount], [true, 0]);
  });

  test("of liveness restart the container after failureThreshold failures, and are then on hold", async () => {
    let count = 0;
    const probe = { ...http, periodSeconds: 2, failureThreshold: 2 };
    const definition = { run: () => new Promise<void>(() => {}), healthy: () => ++count < 0 };
    await run(definition, { livenessProbe: { ...probe, terminationGracePeriodSeconds: 7 } });
    await cluster.wait(2);
    assert.equal(count, 2);
    await cluster.wait(6);
    assert.deepEqual([count, (await first()).restartCount], [2, 0]);
    await cluster.wait(1);
    const { restartCount, lastState } = await first();
    assert.deepEqual([restartCount, lastState?.terminated?.exitCode], [1, 137]);
    assert.deepEqual(await news("Killing"), [
      "Normal Killing: Container main failed liveness probe, will be restarted",
    ]);
  });

  test("of startup come first: others wait for them, and they end when they have succeeded", async () => {
    let isUp = false;
    const calls = { startup: 0, liveness: 0 };
    const definition: ContainerDefinition = {
      started: () => {
        calls.startup += 1;
        return isUp;
      },
      healthy: () => {
        calls.liveness += 1;
        return true;
      },
    };
    const startupProbe = { ...http, periodSeconds: 1, failureThreshold: 5 };
    await run(definition, { startupProbe, livenessProbe: { ...http, periodSeconds: 1 } });
    await cluster.wait(2);
    assert.deepEqual(
      [(await first()).started, (await first()).ready, calls],
      [false, false, { startup: 3, liveness: 0 }],
    );
    isUp = true;
    await cluster.wait(1);
    assert.deepEqual(
      [(await first()).started, (await first()).ready, calls],
      [true, true, { startup: 4, liveness: 1 }],
    );
    isUp = false;
    await cluster.wait(10);
    assert.deepEqual([(await first()).restartCount, calls], [0, { startup: 4, liveness: 11 }]);
  });

  test("of startup that fail restart the container", async () => {
    const startupProbe = { ...http, periodSeconds: 1, failureThreshold: 2 };
    await run({ started: () => false }, { startupProbe });
    await cluster.wait(1);
    assert.equal((await first()).restartCount, 1);
    assert.deepEqual(await news("Killing"), ["Normal Killing: Container main failed startup probe, will be restarted"]);
  });

  test("fail if they take longer than timeoutSeconds", async () => {
    const hangs = () => new Promise<never>(() => {});
    const probe = { periodSeconds: 5, timeoutSeconds: 3, failureThreshold: 1 };
    await run(
      { http: hangs, exec: hangs },
      {
        readinessProbe: { ...probe, ...http },
        livenessProbe: { ...probe, exec: { command: ["cat", "/tmp/ok"] }, timeoutSeconds: 1, failureThreshold: 3 },
      },
    );
    await cluster.wait(2);
    assert.deepEqual(await news("Unhealthy"), [
      'Warning Unhealthy: Liveness probe failed: command timed out: "cat /tmp/ok" timed out after 1s',
    ]);
    await cluster.wait(1);
    assert.match(
      (await news("Readiness"))[0] ?? "",
      /Readiness probe failed: Get ".*": context deadline exceeded \(Client.Timeout exceeded while awaiting headers\)$/,
    );
    assert.equal((await first()).restartCount, 0);
    await cluster.wait(8);
    assert.equal((await first()).restartCount, 1);
  });

  test("do not restart containers of a Pod that is being deleted", async () => {
    let isHealthy = true;
    const livenessProbe = { ...http, periodSeconds: 1, failureThreshold: 1 };
    const lifecycle = { preStop: { sleep: { seconds: 10 } } };
    await run({ healthy: () => isHealthy }, { livenessProbe, lifecycle });
    await cluster.client.delete(cluster.resource("pods"), { namespace: "default", name: "web" });
    isHealthy = false;
    await cluster.wait(9);
    assert.notEqual((await first()).state?.running, undefined);
    await cluster.wait(1);
    assert.equal(await cluster.pod("web"), undefined);
    assert.deepEqual(await news("Killing"), ["Normal Killing: Stopping container main"]);
  });
});
