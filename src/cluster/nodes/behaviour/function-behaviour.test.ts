import assert from "node:assert/strict";
import { afterEach, beforeEach, suite, test } from "node:test";
import type { JsonObject } from "../../../base/api/object.ts";
import type { ContainerContext } from "../../../serving/connect/handlers/container-functions.ts";
import { SimulatedCluster } from "../nodes.suite.ts";
import type { ContainerImages } from "./container-images.ts";

suite("containers as functions", () => {
  let cluster: SimulatedCluster;
  let images: ContainerImages;

  beforeEach(async () => {
    cluster = new SimulatedCluster();
    images = await cluster.simulateFunctions();
  });
  afterEach(() => cluster.end());

  const run = (name: string, image: string, more: JsonObject = {}, spec: JsonObject = {}) =>
    cluster.run(name, { restartPolicy: "Never", containers: [{ name: "main", image, ...more }], ...spec });
  const status = async (name: string) => (await cluster.stored(name)).status ?? {};
  const first = async (name: string) => (await status(name)).containerStatuses?.[0] ?? {};

  test("exit with the result of the function, on the clock of the server", async () => {
    images.set("backup:*", async ({ env, sleep }) => {
      await sleep("20m");
      return env.FAIL ? 3 : 0;
    });
    await run("good", "backup:1");
    await run("bad", "backup:2", { env: [{ name: "FAIL", value: "yes" }] });
    await cluster.wait(1199);
    assert.equal((await status("good")).phase, "Running");
    await cluster.wait(1);
    assert.equal((await status("good")).phase, "Succeeded");
    assert.equal((await status("bad")).phase, "Failed");
    assert.equal((await first("bad")).state?.terminated?.exitCode, 3);
  });

  test("exit with 1 after an error, or as the function says", async () => {
    images.set("crash", () => {
      throw new Error("boom");
    });
    images.set("oom", () => ({ code: 137, reason: "OOMKilled", message: "too large" }));
    await run("crash", "crash");
    await run("oom", "oom");
    assert.equal((await first("crash")).state?.terminated?.exitCode, 1);
    const { exitCode, reason, message } = (await first("oom")).state?.terminated ?? {};
    assert.deepEqual([exitCode, reason, message], [137, "OOMKilled", "too large"]);
  });

  test("get variables of ConfigMaps, Secrets and fields of the Pod", async () => {
    const seen: ContainerContext["env"][] = [];
    images.set("app", ({ env }) => void seen.push(env));
    await cluster.create("configmaps", "config", { content: { data: { host: "db", port: "1" } } });
    await cluster.create("secrets", "secret", { content: { data: { key: "c2VjcmV0" }, type: "Opaque" } });
    const env = [
      { name: "NAME", valueFrom: { fieldRef: { apiVersion: "v1", fieldPath: "metadata.name" } } },
      { name: "IP", valueFrom: { fieldRef: { apiVersion: "v1", fieldPath: "status.podIP" } } },
      { name: "KEY", valueFrom: { secretKeyRef: { name: "secret", key: "key" } } },
      { name: "NONE", valueFrom: { configMapKeyRef: { name: "config", key: "none", optional: true } } },
      { name: "URL", value: "http://$(DB_host):$(DB_port)/$(NAME)?$$(NAME)" },
    ];
    await run("web", "app", { env, envFrom: [{ prefix: "DB_", configMapRef: { name: "config" } }] });
    assert.deepEqual(seen, [
      {
        HOSTNAME: "web",
        DB_host: "db",
        DB_port: "1",
        NAME: "web",
        IP: "10.64.0.2",
        KEY: "secret",
        URL: "http://db:1/web?$(NAME)",
      },
    ]);
  });

  test("are stopped by their signal, and killed after the grace period", async () => {
    images.set("polite", async ({ sleep }) => sleep("24h"));
    images.set("stubborn", () => new Promise(() => {}));
    const grace = { terminationGracePeriodSeconds: 5 };
    const finalizers = { finalizers: ["example.com/keep"] };
    for (const name of ["polite", "stubborn"]) {
      await cluster.run(name, { ...grace, containers: [{ name: "main", image: name }] }, finalizers);
      await cluster.client.delete(cluster.resource("pods"), { namespace: "default", name });
    }
    await cluster.wait(1);
    assert.equal((await first("polite")).state?.terminated?.exitCode, 143);
    assert.notEqual((await first("stubborn")).state?.running, undefined);
    await cluster.wait(4);
    assert.equal((await first("stubborn")).state?.terminated?.exitCode, 137);
  });

  test("are ready when their function says so", async () => {
    images.set("web", { ready: ({ since }) => since > 5000 });
    await run("web", "web");
    await cluster.wait(5);
    assert.equal((await first("web")).ready, false);
    await cluster.wait(1);
    assert.equal((await first("web")).ready, true);
  });

  test("are probed with their HTTP function, and restarted when it fails", async () => {
    let code = 200;
    images.set("web", { http: (request) => new Response("", { status: request.url.endsWith("/live") ? code : 200 }) });
    const probe = (path: string) => ({ httpGet: { path, port: 80 }, periodSeconds: 2, failureThreshold: 2 });
    const probes = { readinessProbe: probe("/ready"), livenessProbe: probe("/live") };
    await run("web", "web", probes, { restartPolicy: "Always" });
    await cluster.wait(10);
    assert.deepEqual([(await first("web")).ready, (await first("web")).restartCount], [true, 0]);
    code = 500;
    await cluster.wait(4);
    code = 200;
    await cluster.wait(3);
    assert.deepEqual([(await first("web")).ready, (await first("web")).restartCount], [true, 1]);
    await cluster.hasNews("Warning Unhealthy: Liveness probe failed: HTTP probe failed with statuscode: 500", "web");
    await cluster.hasNews("Normal Killing: Container main failed liveness probe, will be restarted", "web");
  });

  test("wait for images that cannot be pulled", async () => {
    images.set("private/*", { pullError: "pull access denied" });
    await run("web", "private/app:1");
    assert.equal((await first("web")).state?.waiting?.reason, "ErrImagePull");
  });
});
