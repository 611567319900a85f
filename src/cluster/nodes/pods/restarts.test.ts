import assert from "node:assert/strict";
import { afterEach, beforeEach, suite, test } from "node:test";
import type { JsonObject } from "../../../base/api/object.ts";
import type { ContainerImages } from "../behaviour/container-images.ts";
import { SimulatedCluster } from "../nodes.suite.ts";

suite("restarts of containers", () => {
  let cluster: SimulatedCluster;
  let images: ContainerImages;

  beforeEach(async () => {
    cluster = new SimulatedCluster();
    images = await cluster.simulateFunctions();
  });
  afterEach(() => cluster.end());

  const status = async () => (await cluster.stored("web")).status ?? {};
  const first = async () => (await status()).containerStatuses?.[0] ?? {};

  test("wait 10 s, then twice as long each time, at most 5 min, and begin anew after 10 min without one", async () => {
    const starts: number[] = [];
    let runsForMs = 0;
    images.set("app", async ({ sleep }) => {
      starts.push((cluster.clock.now() - beganMs) / 1000);
      if (runsForMs > 0) await sleep(runsForMs);
      return 1;
    });
    const beganMs = cluster.clock.now();
    await cluster.run("web", { containers: [{ name: "main", image: "app" }] });
    await cluster.wait(1000);
    assert.deepEqual(starts, [0, 0, 10, 30, 70, 150, 310, 610, 910]);
    assert.match((await first()).state?.waiting?.message ?? "", /^back-off 5m0s /);
    runsForMs = 601_000;
    // It starts at 1210, ends at 1811, starts at once and ends at 2412: more than 10 min after the last start.
    await cluster.wait(850);
    assert.deepEqual(starts.slice(9), [1210, 1811]);
    runsForMs = 0;
    await cluster.wait(600);
    assert.deepEqual(starts.slice(11), [2412, 2422, 2442]);
  });

  test("restart all containers, init containers first, if a rule says so", async () => {
    const starts: string[] = [];
    const stay = (signal: AbortSignal) =>
      new Promise<number>((resolve) => signal.addEventListener("abort", () => resolve(0), { once: true }));
    for (const image of ["init", "worker", "other"]) {
      images.set(image, ({ signal, restartCount }) => {
        starts.push(`${image} ${restartCount}`);
        if (image === "init") return 0;
        return image === "worker" && restartCount === 0 ? 42 : stay(signal);
      });
    }
    const restartPolicyRules = [{ action: "RestartAllContainers", exitCodes: { operator: "In", values: [42] } }];
    const worker = { name: "worker", image: "worker", restartPolicy: "Never", restartPolicyRules };
    await cluster.run("web", {
      restartPolicy: "Never",
      initContainers: [{ name: "init", image: "init" }],
      containers: [worker, { name: "other", image: "other" }],
    });
    const restarting = async () => (await status()).conditions?.find(({ type }) => type === "AllContainersRestarting");
    const { status: isRestarting, reason, message } = (await restarting()) ?? {};
    assert.deepEqual(
      [isRestarting, reason, message],
      ["True", "RestartAllContainersStarted", "container exited with restart policy rule"],
    );
    assert.equal((await status()).phase, "Running");
    await cluster.wait(1);
    assert.deepEqual(starts, ["init 0", "worker 0", "other 0", "init 1", "worker 1", "other 1"]);
    const { initContainerStatuses = [], containerStatuses = [], phase } = await status();
    assert.deepEqual([phase, (await restarting())?.status], ["Running", "False"]);
    for (const { restartCount, lastState } of [...initContainerStatuses, ...containerStatuses]) {
      const { exitCode, reason: why } = lastState?.terminated ?? {};
      assert.deepEqual([restartCount, exitCode, why], [1, 137, "RestartingAllContainers"]);
    }
  });

  test("of one container do not delay those of another", async () => {
    const starts: string[] = [];
    for (const image of ["bad", "other"]) {
      images.set(image, async ({ sleep, restartCount }) => {
        starts.push(`${image} ${restartCount}`);
        if (image === "other") await sleep(5000);
        return 1;
      });
    }
    const containers = ["bad", "other"].map((image) => ({ name: image, image }));
    await cluster.run("web", { containers });
    await cluster.wait(6);
    assert.deepEqual(starts, ["bad 0", "other 0", "bad 1", "other 1"]);
  });

  const rule = (operator: string, ...values: number[]) => ({ action: "Restart", exitCodes: { operator, values } });

  for (const [title, pod, own, code, expected] of [
    [
      "a rule restarts a container that would not be",
      "Never",
      { restartPolicy: "Never", restartPolicyRules: [rule("In", 42)] },
      42,
      1,
    ],
    [
      "other codes follow the container's policy",
      "Always",
      { restartPolicy: "Never", restartPolicyRules: [rule("In", 42)] },
      1,
      0,
    ],
    [
      "NotIn matches all other codes",
      "Never",
      { restartPolicy: "Never", restartPolicyRules: [rule("NotIn", 42)] },
      1,
      1,
    ],
    ["the policy of a container wins over that of the Pod", "Always", { restartPolicy: "OnFailure" }, 0, 0],
    ["a container may always be restarted", "Never", { restartPolicy: "Always" }, 0, 1],
    ["the policy of the Pod is the default", "OnFailure", {}, 0, 0],
  ] as const) {
    test(title, async () => {
      images.set("app", ({ restartCount, signal }) =>
        restartCount === 0 ? code : new Promise((resolve) => signal.addEventListener("abort", () => resolve(0))),
      );
      await cluster.run("web", {
        restartPolicy: pod,
        containers: [{ name: "main", image: "app", ...(own as JsonObject) }],
      });
      await cluster.wait(1);
      assert.equal((await first()).restartCount, expected);
      assert.equal((await status()).phase, expected === 1 ? "Running" : code === 0 ? "Succeeded" : "Failed");
    });
  }
});
