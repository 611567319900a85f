import assert from "node:assert/strict";
import { afterEach, beforeEach, suite, test } from "node:test";
import type { JsonObject } from "../../../base/api/object.ts";
import type { ContainerProcess } from "../behaviour/behaviour.ts";
import { defaultBehaviour } from "../behaviour/default-behaviour.ts";
import { SimulatedCluster } from "../nodes.suite.ts";

const container = (name: string, more: JsonObject = {}) => ({ name, image: "nginx:1", ...more });

suite("a Pod on a simulated node", () => {
  let cluster: SimulatedCluster;

  beforeEach(() => {
    cluster = new SimulatedCluster();
  });
  afterEach(() => cluster.end());

  const conditions = async (name: string) =>
    ((await cluster.stored(name)).status?.conditions ?? []).map(({ type, status, reason }) =>
      reason === undefined ? `${type}=${status}` : `${type}=${status} ${reason}`,
    );
  const phase = async (name: string) => (await cluster.stored(name)).status?.phase;
  const first = async (name: string) => (await cluster.stored(name)).status?.containerStatuses?.[0] ?? {};

  /** Containers that exit with these codes one after the other, a second after their start. */
  const exiting = (...codes: number[]) => ({
    ...defaultBehaviour,
    start: (instance: Parameters<typeof defaultBehaviour.start>[0]): ContainerProcess => {
      const code = codes[instance.restartCount];
      const process = defaultBehaviour.start(instance);
      return code === undefined ? process : { ...healthy, exit: { atMs: instance.startedMs + 1000, code } };
    },
  });
  const healthy = { health: () => ({ isStarted: true, isReady: true }), stop: () => {}, close: () => {} };

  test("runs and becomes ready in one write", async () => {
    await cluster.simulate();
    await cluster.run("web", { containers: [container("main", { resources: { requests: { cpu: "1" } } })] });
    const { status = {}, metadata } = await cluster.stored("web");
    const { conditions: _, containerStatuses: [main] = [], ...rest } = status;
    assert.deepEqual(rest, {
      observedGeneration: 1,
      phase: "Running",
      qosClass: "Burstable",
      startTime: cluster.now,
      hostIP: "172.16.0.2",
      hostIPs: [{ ip: "172.16.0.2" }],
      podIP: "10.64.0.2",
      podIPs: [{ ip: "10.64.0.2" }],
    });
    assert.deepEqual(await conditions("web"), [
      "PodReadyToStartContainers=True",
      "Initialized=True",
      "Ready=True",
      "ContainersReady=True",
      "PodScheduled=True",
    ]);
    const { containerID = "", imageID = "", ...shown } = main ?? {};
    assert.match(containerID, /^simulated:\/\/[0-9a-f]{64}$/);
    assert.match(imageID, /^nginx@sha256:[0-9a-f]{64}$/);
    assert.deepEqual(shown, {
      name: "main",
      state: { running: { startedAt: cluster.now } },
      lastState: {},
      ready: true,
      restartCount: 0,
      image: "nginx:1",
      started: true,
      allocatedResources: { cpu: "1" },
      resources: { requests: { cpu: "1" } },
    });
    assert.deepEqual(await cluster.news("web"), [
      'Normal Pulled: Container image "nginx:1" already present on machine and can be accessed by the pod',
      "Normal Created: Container created",
      "Normal Started: Container started",
    ]);
    await cluster.wait(60);
    assert.equal((await cluster.stored("web")).metadata.resourceVersion, metadata.resourceVersion);
  });

  test("runs init containers one after the other, then sidecars and all others", async () => {
    await cluster.simulate();
    await cluster.run("web", {
      initContainers: [container("one"), container("two"), container("side", { restartPolicy: "Always" })],
    });
    const states = async () => {
      const { initContainerStatuses = [], containerStatuses = [] } = (await cluster.stored("web")).status ?? {};
      return [...initContainerStatuses, ...containerStatuses].map(({ state = {} }) => Object.keys(state)[0]);
    };
    assert.equal(await phase("web"), "Pending");
    assert.deepEqual(await states(), ["running", "waiting", "waiting", "waiting"]);
    assert.equal((await first("web")).state?.waiting?.reason, "PodInitializing");
    assert.deepEqual((await conditions("web")).slice(1, 3), [
      "Initialized=False ContainersNotInitialized",
      "Ready=False ContainersNotReady",
    ]);
    await cluster.wait(1);
    assert.deepEqual(await states(), ["terminated", "running", "waiting", "waiting"]);
    await cluster.wait(1);
    assert.deepEqual(await states(), ["terminated", "terminated", "running", "running"]);
    assert.equal(await phase("web"), "Running");
    assert.equal((await conditions("web"))[2], "Ready=True");
  });

  test("becomes ready when its probes have succeeded", async () => {
    await cluster.simulate();
    const readinessProbe = { tcpSocket: { port: 80 }, initialDelaySeconds: 5, periodSeconds: 5, successThreshold: 2 };
    const startupProbe = { tcpSocket: { port: 80 }, initialDelaySeconds: 3, periodSeconds: 1 };
    await cluster.run("web", { containers: [container("main", { readinessProbe, startupProbe })] });
    const health = async () => {
      const { started, ready } = await first("web");
      return { started, ready };
    };
    assert.deepEqual(await health(), { started: false, ready: false });
    await cluster.wait(3);
    assert.deepEqual(await health(), { started: true, ready: false });
    // The readiness probe begins when the container has started: after 3 s (too early), 8 s and 13 s.
    await cluster.wait(9);
    assert.deepEqual(await health(), { started: true, ready: false });
    await cluster.wait(1);
    assert.deepEqual(await health(), { started: true, ready: true });
    assert.equal((await conditions("web"))[2], "Ready=True");
  });

  test("is not ready without its readiness gates", async () => {
    await cluster.simulate();
    await cluster.run("web", { readinessGates: [{ conditionType: "example.com/gate" }] });
    assert.equal((await conditions("web"))[2], "Ready=False ReadinessGatesNotReady");
    const status = { conditions: [{ type: "example.com/gate", status: "True" }] };
    const key = { namespace: "default", name: "web" };
    await cluster.client.patch(cluster.resource("pods"), key, { status }, { isStrategic: true, subresource: "status" });
    await cluster.clock.advance(0);
    assert.deepEqual((await conditions("web")).slice(0, 4), [
      "example.com/gate=True",
      "PodReadyToStartContainers=True",
      "Initialized=True",
      "Ready=True",
    ]);
  });

  test("of a Job succeeds after a second", async () => {
    await cluster.simulate();
    const owner = { apiVersion: "batch/v1", kind: "Job", name: "pi", uid: "1", controller: true };
    await cluster.run("pi", { restartPolicy: "Never" }, { ownerReferences: [owner] });
    assert.equal(await phase("pi"), "Running");
    await cluster.wait(1);
    assert.equal(await phase("pi"), "Succeeded");
    assert.deepEqual(await conditions("pi"), [
      "PodReadyToStartContainers=False PodSandboxNotReady",
      "Initialized=True PodCompleted",
      "Ready=False PodCompleted",
      "ContainersReady=False PodCompleted",
      "PodScheduled=True",
    ]);
    const { terminated } = (await first("pi")).state ?? {};
    assert.deepEqual([terminated?.exitCode, terminated?.reason], [0, "Completed"]);
  });

  test("restarts a container that fails, with growing delays", async () => {
    await cluster.simulate({ behaviour: exiting(1, 2, 3) });
    await cluster.run("web");
    await cluster.wait(1);
    const restarted = await first("web");
    assert.deepEqual([restarted.restartCount, restarted.lastState?.terminated?.exitCode], [1, 1]);
    await cluster.wait(1);
    const { uid } = (await cluster.stored("web")).metadata;
    const waiting = await first("web");
    assert.deepEqual(waiting.state?.waiting, {
      reason: "CrashLoopBackOff",
      message: `back-off 10s restarting failed container=main pod=web_default(${uid})`,
    });
    assert.deepEqual([waiting.ready, waiting.restartCount, waiting.lastState?.terminated?.exitCode], [false, 1, 2]);
    assert.equal(await phase("web"), "Running");
    await cluster.wait(9);
    assert.equal((await first("web")).restartCount, 1);
    await cluster.wait(1);
    assert.equal((await first("web")).restartCount, 2);
    await cluster.wait(1);
    assert.match((await first("web")).state?.waiting?.message ?? "", /^back-off 20s /);
    await cluster.wait(20);
    assert.deepEqual([(await first("web")).restartCount, (await first("web")).ready], [3, true]);
    await cluster.hasNews(
      `Warning BackOff: Back-off restarting failed container main in pod web_default(${uid})`,
      "web",
    );
  });

  for (const [restartPolicy, codes, expected] of [
    ["Never", [0], "Succeeded"],
    ["Never", [1], "Failed"],
    ["OnFailure", [1, 0], "Succeeded"],
  ] as const) {
    test(`with restartPolicy ${restartPolicy} and exit codes ${codes.join(", ")} ends as ${expected}`, async () => {
      await cluster.simulate({ behaviour: exiting(...codes) });
      await cluster.run("web", { restartPolicy });
      await cluster.wait(3);
      assert.equal(await phase("web"), expected);
      assert.equal((await first("web")).restartCount, codes.length - 1);
    });
  }

  test("stops its sidecars when all other containers have ended", async () => {
    await cluster.simulate();
    const owner = { apiVersion: "batch/v1", kind: "Job", name: "pi", uid: "1", controller: true };
    const initContainers = [container("side", { restartPolicy: "Always" })];
    await cluster.run("pi", { restartPolicy: "Never", initContainers }, { ownerReferences: [owner] });
    await cluster.wait(1);
    assert.equal(await phase("pi"), "Succeeded");
    const [side] = (await cluster.stored("pi")).status?.initContainerStatuses ?? [];
    assert.equal(side?.state?.terminated?.exitCode, 0);
  });

  test("fails after its active deadline", async () => {
    await cluster.simulate();
    await cluster.run("web", { activeDeadlineSeconds: 5 });
    await cluster.wait(4);
    assert.equal(await phase("web"), "Running");
    await cluster.wait(1);
    const { status = {} } = await cluster.stored("web");
    assert.deepEqual(
      [status.phase, status.reason, status.message],
      ["Failed", "DeadlineExceeded", "Pod was active on the node longer than the specified deadline"],
    );
    assert.notEqual((await first("web")).state?.terminated, undefined);
  });

  test("is removed when its containers have stopped, after their preStop hooks", async () => {
    await cluster.simulate();
    await cluster.run("fast");
    await cluster.run("slow", {
      containers: [container("main", { lifecycle: { preStop: { sleep: { seconds: 3 } } } })],
    });
    const remove = (name: string) => cluster.client.delete(cluster.resource("pods"), { namespace: "default", name });
    await remove("fast");
    await remove("slow");
    await cluster.clock.advance(0);
    assert.equal(await cluster.pod("fast"), undefined);
    await cluster.wait(2);
    assert.equal(await phase("slow"), "Running");
    await cluster.wait(1);
    assert.equal(await cluster.pod("slow"), undefined);
    await cluster.hasNews("Normal Killing: Stopping container main", "slow");
  });

  test("with a finalizer ends, and is left until the finalizer is removed", async () => {
    await cluster.simulate();
    await cluster.run("web", { restartPolicy: "Never" }, { finalizers: ["example.com/keep"] });
    await cluster.client.delete(cluster.resource("pods"), { namespace: "default", name: "web" });
    await cluster.clock.advance(0);
    const { status, metadata } = await cluster.stored("web");
    assert.equal(status?.phase, "Failed");
    assert.equal(status?.containerStatuses?.[0]?.state?.terminated?.exitCode, 143);
    assert.equal(metadata.deletionGracePeriodSeconds, 0);
    await cluster.patch("pods", "web", { metadata: { finalizers: null } });
    assert.equal(await cluster.pod("web"), undefined);
  });

  test("runs ephemeral containers that are added later", async () => {
    await cluster.simulate();
    await cluster.run("web");
    const key = { namespace: "default", name: "web" };
    const spec = { ephemeralContainers: [container("debug")] };
    const options = { isStrategic: true, subresource: "ephemeralcontainers" };
    await cluster.client.patch(cluster.resource("pods"), key, { spec }, options);
    await cluster.clock.advance(0);
    const { ephemeralContainerStatuses: [debug] = [], observedGeneration } = (await cluster.stored("web")).status ?? {};
    assert.deepEqual([debug?.name, debug?.state], ["debug", { running: { startedAt: cluster.now } }]);
    assert.equal(observedGeneration, 2);
  });

  test("waits while its image cannot be pulled", async () => {
    let error: string | undefined = "not found";
    await cluster.simulate({ behaviour: { ...defaultBehaviour, pullError: () => error } });
    await cluster.run("web");
    const waiting = async () => (await first("web")).state?.waiting;
    assert.deepEqual(await waiting(), { reason: "ErrImagePull", message: "not found" });
    assert.equal(await phase("web"), "Pending");
    await cluster.wait(2);
    assert.deepEqual(await waiting(), {
      reason: "ImagePullBackOff",
      message: 'Back-off pulling image "nginx": ErrImagePull: not found',
    });
    error = undefined;
    await cluster.wait(9);
    assert.equal(await phase("web"), "Running");
    assert.equal((await first("web")).restartCount, 0);
  });

  test("gets another address than all other Pods of its node", async () => {
    await cluster.simulate();
    await cluster.run("a");
    await cluster.run("b");
    await cluster.run("host", { hostNetwork: true });
    const addresses = await Promise.all(
      ["a", "b", "host"].map(async (name) => (await cluster.stored(name)).status?.podIP),
    );
    assert.deepEqual(addresses, ["10.64.0.2", "10.64.0.3", "172.16.0.2"]);
  });

  test("waits for a range of addresses if a controller assigns it", async () => {
    await cluster.simulate({ waitsForRanges: true });
    await cluster.run("web");
    assert.equal(await phase("web"), "Pending");
    const spec = { podCIDR: "10.1.0.0/24", podCIDRs: ["10.1.0.0/24", "fd00::/64"] };
    await cluster.client.patch(cluster.resource("nodes"), { namespace: "", name: "node-1" }, { spec });
    await cluster.clock.advance(0);
    assert.deepEqual((await cluster.stored("web")).status?.podIPs, [{ ip: "10.1.0.2" }, { ip: "fd00::2" }]);
  });

  test("starts a container again when its image changes", async () => {
    await cluster.simulate();
    await cluster.run("web", { restartPolicy: "Never", containers: [container("main")] });
    const spec = { containers: [{ name: "main", image: "nginx:2" }] };
    const key = { namespace: "default", name: "web" };
    await cluster.client.patch(cluster.resource("pods"), key, { spec }, { isStrategic: true });
    await cluster.clock.advance(0);
    const { image, restartCount, ready } = await first("web");
    assert.deepEqual([image, restartCount, ready, await phase("web")], ["nginx:2", 1, true, "Running"]);
    await cluster.hasNews("Normal Killing: Container main definition changed, will be restarted", "web");
  });

  for (const [reason, spec, message] of [
    ["NodeAffinity", { nodeSelector: { disk: "ssd" } }, "node(s) didn't match Pod's node affinity/selector"],
    [
      "NodePorts",
      { containers: [container("main", { ports: [{ containerPort: 80, hostPort: 80, hostIP: "10.0.0.1" }] })] },
      "node(s) didn't have free ports for the requested pod ports",
    ],
    ["TaintToleration", { tolerations: [] }, "node(s) had taints that the pod didn't tolerate"],
  ] as const) {
    test(`is rejected with the reason ${reason}`, async () => {
      await cluster.simulate();
      await cluster.run("first", { containers: [container("main", { ports: [{ containerPort: 80, hostPort: 80 }] })] });
      const taints = reason === "TaintToleration" ? [{ key: "gone", effect: "NoExecute" }] : [];
      await cluster.client.patch(cluster.resource("nodes"), { namespace: "", name: "node-1" }, { spec: { taints } });
      await cluster.clock.advance(0);
      await cluster.run("web", structuredClone(spec) as unknown as JsonObject);
      const { status = {} } = await cluster.stored("web");
      const text = `Predicate ${reason} failed: ${message}`;
      assert.deepEqual([status.phase, status.reason, status.message], ["Failed", reason, `Pod was rejected: ${text}`]);
      await cluster.hasNews(`Warning ${reason}: ${text}`, "web");
    });
  }
});
