import assert from "node:assert/strict";
import { afterEach, beforeEach, suite, test } from "node:test";
import { ManualClock } from "../../../../base/util/environment.suite.ts";
import { addressRecord } from "../../../../kinds/types/ip-address.ts";
import { MemoryStore } from "../../../../storage/memory.ts";
import { TestCluster, until } from "../../shared/controllers.suite.ts";
import type { ServiceCidr } from "./ranges.ts";
import { serviceCidrs } from "./service-cidr.ts";

const FINALIZER = "networking.k8s.io/service-cidr-finalizer";
const SERVICE = { kind: "Service", apiVersion: "v1", metadata: { name: "web", namespace: "default" } };

suite("service-cidr-controller", () => {
  let cluster: TestCluster;
  let clock: ManualClock;

  beforeEach(() => {
    clock = new ManualClock();
    cluster = new TestCluster(new MemoryStore(), { clock });
    cluster.start(serviceCidrs(cluster));
  });
  afterEach(async () => {
    await cluster.stop();
    assert.deepEqual(cluster.problems, []);
  });

  const create = async (name: string, ...cidrs: string[]) => {
    await cluster.create("servicecidrs", name, { content: { spec: { cidrs } } });
    await until(async () => (await condition(name))?.status === "True");
  };
  const find = async (name: string) => (await cluster.find("servicecidrs", name, "")) as ServiceCidr | undefined;
  const condition = async (name: string) => (await find(name))?.status?.conditions?.[0];
  const allocate = (address: string) =>
    cluster.create("ipaddresses", address, { content: addressRecord(SERVICE, address) });
  const isBlocked = (name: string) => until(async () => (await condition(name))?.status === "False");
  /** Gone ten seconds after its deletion. */
  const isReleased = async (name: string) => {
    await clock.advance(9000);
    assert.ok(await find(name));
    await clock.advance(1000);
    await until(async () => (await find(name)) === undefined);
  };

  test("sets the finalizer and the condition Ready", async () => {
    await create("one", "10.0.0.0/24");
    const cidr = await find("one");
    assert.deepEqual(cidr?.metadata.finalizers, [FINALIZER]);
    assert.partialDeepStrictEqual(await condition("one"), {
      type: "Ready",
      status: "True",
      message: "Kubernetes Service CIDR is ready",
    });
  });

  test("releases an unused ServiceCIDR ten seconds after its deletion", async () => {
    await create("one", "10.0.0.0/24");
    await allocate("10.0.1.1");
    await cluster.delete("servicecidrs", "one");
    await isReleased("one");
  });

  test("keeps a ServiceCIDR while a Service has one of its addresses", async () => {
    await create("one", "10.0.0.0/24");
    await allocate("10.0.0.7");
    await cluster.delete("servicecidrs", "one");
    await isBlocked("one");
    assert.partialDeepStrictEqual(await condition("one"), {
      reason: "Terminating",
      message:
        "There are still IPAddresses referencing the ServiceCIDR, please remove them or create a new ServiceCIDR",
    });
    await clock.advance(60_000);
    assert.ok(await find("one"));
    await cluster.delete("ipaddresses", "10.0.0.7");
    await until(async () => (await find("one")) === undefined);
  });

  test("releases a ServiceCIDR when another one has its used addresses", async () => {
    await create("one", "10.0.0.0/24");
    await allocate("10.0.0.7");
    await cluster.delete("servicecidrs", "one");
    await isBlocked("one");
    await create("small", "10.0.0.0/28");
    await clock.advance(60_000);
    await until(async () => (await find("one")) === undefined);
  });

  test("needs every address to be in another ServiceCIDR", async () => {
    await create("one", "10.0.0.0/24", "fd00::/112");
    await create("wide", "10.0.0.0/16");
    await allocate("fd00::7");
    await cluster.delete("servicecidrs", "one");
    await isBlocked("one");
    await create("long", "fd00::/112");
    await clock.advance(60_000);
    await until(async () => (await find("one")) === undefined);
  });

  test("does not count the network and broadcast addresses, and those of other programs", async () => {
    await create("one", "10.0.0.0/24");
    await allocate("10.0.0.0");
    await allocate("10.0.0.255");
    const content = { spec: { parentRef: { resource: "services", namespace: "default", name: "web" } } };
    await cluster.create("ipaddresses", "10.0.0.9", { content });
    await cluster.delete("servicecidrs", "one");
    await isReleased("one");
  });
});
