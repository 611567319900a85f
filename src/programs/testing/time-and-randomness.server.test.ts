import assert from "node:assert/strict";
import { suite, test } from "node:test";
import { CoordinationV1Api, CoreV1Api, V1MicroTime } from "@kubernetes/client-node";
import { startControlPlane } from "./control-plane.ts";
import { sameRequests } from "./time-and-randomness.suite.ts";

const namespace = "default";

suite("time and randomness of a control plane", () => {
  test("24 hours pass at once: tokens and events expire, a lease is lost", async () => {
    await using cp = await startControlPlane({ clock: { at: "2026-01-01T00:00:00Z" } });
    const core = cp.client(CoreV1Api);
    await core.createNamespacedServiceAccount({ namespace, body: { metadata: { name: "robot" } } });
    const request = { spec: { audiences: [], expirationSeconds: 12 * 3600 } };
    const { status } = await core.createNamespacedServiceAccountToken({ name: "robot", namespace, body: request });
    const asRobot = { headers: { authorization: `Bearer ${status?.token}` } };
    const involvedObject = { kind: "Pod", namespace, name: "p" };
    await core.createNamespacedEvent({ namespace, body: { metadata: { name: "e" }, involvedObject } });
    const leases = cp.client(CoordinationV1Api);
    const spec = { holderIdentity: "me", leaseDurationSeconds: 15, renewTime: new V1MicroTime(cp.clock.now()) };
    await leases.createNamespacedLease({ namespace, body: { metadata: { name: "leader" }, spec } });
    assert.equal((await cp.fetch("/apis", asRobot)).status, 200);

    await cp.clock.advance({ hours: 24 });

    assert.equal(cp.clock.now().toISOString(), "2026-01-02T00:00:00.000Z");
    assert.equal((await cp.fetch("/apis", asRobot)).status, 401);
    assert.deepEqual((await core.listNamespacedEvent({ namespace })).items, []);
    const lease = await leases.readNamespacedLease({ namespace, name: "leader" });
    const heldMs = cp.clock.now().getTime() - new Date(lease.spec?.renewTime ?? 0).getTime();
    assert.ok(heldMs > 1000 * (lease.spec?.leaseDurationSeconds ?? 0), "by the clock, the lease has expired");
  });

  test("the same seed, clock and requests give the same bytes, another seed gives others", async () => {
    const first = await sameRequests(42);
    assert.deepEqual(await sameRequests(42), first);
    assert.notDeepEqual(await sameRequests(43), first);
  });

  test("forks of the same state behave the same", async () => {
    await using cp = await startControlPlane({ seed: 1, clock: { at: "2026-01-01T00:00:00Z" } });
    const create = async () => {
      await using fork = await cp.fork();
      const body = JSON.stringify({ metadata: { generateName: "n-" } });
      const headers = { "content-type": "application/json" };
      return (await fork.fetch("/api/v1/namespaces", { method: "POST", body, headers })).text();
    };
    assert.equal(await create(), await create());
  });

  test("delayed faults continue when the clock runs", async () => {
    await using cp = await startControlPlane({ clock: { at: "2026-01-01T00:00:00Z", running: true } });
    cp.faults.latency({ verb: "list", resource: "pods", by: 1, times: 1 });
    assert.equal((await cp.fetch("/api/v1/pods")).status, 200);
    assert.ok(cp.clock.now().getTime() > Date.UTC(2026, 0, 1));
  });
});
