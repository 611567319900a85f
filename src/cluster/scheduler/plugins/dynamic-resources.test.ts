import assert from "node:assert/strict";
import { suite, test } from "node:test";
import type { JsonObject } from "../../../base/api/object.ts";
import type { ClaimStatus } from "../../../kinds/built-in/resource/types.ts";
import type { ResourceClaim } from "../../controllers/shared/resource-claims.ts";
import { ScheduledCluster } from "../scheduler.suite.ts";

const CLAIMS = "resourceclaims";

class DeviceCluster extends ScheduledCluster {
  async addClaim(name: string, deviceClassName = "gpu"): Promise<void> {
    const exactly = { deviceClassName, allocationMode: "ExactCount", count: 1 };
    await this.create(CLAIMS, name, { content: { spec: { devices: { requests: [{ name: "r", exactly }] } } } });
  }

  /** Allocates a device of a node to a claim, as a scheduler would. */
  async allocate(name: string, node: string): Promise<void> {
    const matchExpressions = [{ key: "kubernetes.io/hostname", operator: "In", values: [node] }];
    const allocation = {
      devices: { results: [{ request: "r", driver: "gpu.example.com", pool: node, device: "gpu0" }] },
      nodeSelector: { nodeSelectorTerms: [{ matchExpressions }] },
    };
    const claim = await this.find(CLAIMS, name);
    assert.ok(claim);
    await this.client.update(this.resource(CLAIMS), { ...claim, status: { allocation } }, { subresource: "status" });
  }

  /** The devices of one node. */
  async addDevices(node: string, devices: JsonObject[], pool: JsonObject = {}): Promise<void> {
    const spec = {
      ...{ driver: "gpu.example.com", nodeName: node, devices },
      pool: { name: node, generation: 1, resourceSliceCount: 1, ...pool },
    };
    await this.create("resourceslices", `${node}-${devices.map(({ name }) => name).join("-")}`, { content: { spec } });
  }

  async addRequest(name: string, devices: JsonObject): Promise<void> {
    await this.create(CLAIMS, name, { content: { spec: { devices } } });
  }

  /** `pool/device` for each result. */
  async devices(name: string): Promise<string[]> {
    const { status } = (await this.find(CLAIMS, name)) as ResourceClaim;
    return (status?.allocation?.devices?.results ?? []).map(({ pool, device }) => `${pool}/${device}`);
  }

  async addUser(name: string, resourceClaimName: string): Promise<void> {
    await this.addPod(name, { resourceClaims: [{ name: "c", resourceClaimName }] });
  }
}

suite("DynamicResources", () => {
  test("waits for a claim, and reserves it on the node of its device", async () => {
    const cluster = new DeviceCluster();
    await cluster.addNode("a");
    await cluster.addNode("b");
    await cluster.create("deviceclasses", "gpu", { content: { spec: {} } });
    await cluster.addUser("web", "device");
    await cluster.wait(2);
    assert.equal((await cluster.pod("web")).spec?.nodeName, undefined);
    await cluster.addClaim("device");
    await cluster.wait(2);
    const outcome = (await cluster.outcome("web")) ?? "";
    assert.match(outcome, /^0\/2 nodes are available: 2 cannot allocate all claims\./);
    await cluster.allocate("device", "b");
    await cluster.wait(20);
    assert.equal(await cluster.outcome("web"), "b");
    const { status } = (await cluster.find(CLAIMS, "device")) as ResourceClaim;
    const { uid } = (await cluster.pod("web")).metadata;
    assert.deepEqual((status as ClaimStatus).reservedFor, [{ resource: "pods", name: "web", uid }]);
    await cluster.end();
  });

  test("reports claims whose device is elsewhere and classes that do not exist", async () => {
    const cluster = new DeviceCluster();
    await cluster.addNode("a");
    await cluster.addClaim("far");
    await cluster.allocate("far", "gone");
    await cluster.addClaim("odd", "absent");
    await cluster.addUser("one", "far");
    await cluster.addUser("two", "odd");
    await cluster.wait();
    assert.match((await cluster.outcome("one")) ?? "", /: 1 resourceclaim not available on the node\./);
    assert.match((await cluster.outcome("two")) ?? "", /: request r: device class absent does not exist\./);
    await cluster.end();
  });

  const isLarge = { cel: { expression: 'device.capacity["gpu.example.com"].memory.isGreaterThan(quantity("8Gi"))' } };
  const exactly = (more: JsonObject = {}) => ({ deviceClassName: "gpu", ...more });
  const device = (name: string, memory: string, more: JsonObject = {}) => ({
    name,
    capacity: { memory: { value: memory } },
    ...more,
  });

  /** A cluster in which the nodes `a` and `b` have two devices each. */
  async function withDevices(selectors: JsonObject[] = []): Promise<DeviceCluster> {
    const cluster = new DeviceCluster();
    for (const node of ["a", "b"]) {
      await cluster.addNode(node);
      const attributes = { model: { string: node }, version: { version: "1.2.0" } };
      const devices = [device("0", "4Gi", { attributes }), device("1", "16Gi", { attributes })];
      await cluster.addDevices(node, devices);
    }
    await cluster.create("deviceclasses", "gpu", { content: { spec: { selectors } } });
    return cluster;
  }

  test("allocates a device of the node, and protects the claim", async () => {
    const cluster = await withDevices([{ cel: { expression: 'device.driver == "gpu.example.com"' } }]);
    const selector = { cel: { expression: 'device.attributes["gpu.example.com"].model == "b"' } };
    await cluster.addRequest("device", { requests: [{ name: "r", exactly: exactly({ selectors: [selector] }) }] });
    await cluster.addUser("web", "device");
    await cluster.wait(2);
    assert.equal(await cluster.outcome("web"), "b");
    const { status, metadata } = (await cluster.find(CLAIMS, "device")) as ResourceClaim;
    const { allocationTimestamp, ...allocation } = status?.allocation ?? {};
    assert.deepEqual(allocation, {
      devices: { results: [{ request: "r", driver: "gpu.example.com", pool: "b", device: "0" }] },
      nodeSelector: { nodeSelectorTerms: [{ matchFields: [{ key: "metadata.name", operator: "In", values: ["b"] }] }] },
    });
    assert.equal(typeof allocationTimestamp, "string");
    assert.deepEqual(metadata.finalizers, ["resource.kubernetes.io/delete-protection"]);
    assert.equal(status?.reservedFor?.[0]?.name, "web");
    await cluster.end();
  });

  test("allocates each device once, and tries again when one becomes free", async () => {
    const cluster = await withDevices([isLarge]);
    for (const name of ["one", "two", "three"]) {
      await cluster.addRequest(name, { requests: [{ name: "r", exactly: exactly() }] });
      await cluster.addUser(name, name);
    }
    await cluster.wait(2);
    assert.deepEqual((await Promise.all(["one", "two"].map((name) => cluster.devices(name)))).flat().sort(), [
      "a/1",
      "b/1",
    ]);
    assert.match((await cluster.outcome("three")) ?? "", /^0\/2 nodes are available: 2 cannot allocate all claims\./);
    const freed = await cluster.find(CLAIMS, "one");
    assert.ok(freed);
    await cluster.client.update(cluster.resource(CLAIMS), { ...freed, status: {} }, { subresource: "status" });
    await cluster.wait(20);
    assert.deepEqual(await cluster.devices("three"), [`${await cluster.outcome("three")}/1`]);
    await cluster.end();
  });

  for (const [what, devices, expected] of [
    ["all devices", { requests: [{ name: "r", exactly: exactly({ allocationMode: "All" }) }] }, 2],
    [
      "devices with the same attribute",
      {
        requests: [{ name: "r", exactly: exactly({ count: 2 }) }],
        constraints: [{ matchAttribute: "gpu.example.com/model" }],
      },
      2,
    ],
    [
      "no devices whose attributes do not differ",
      {
        requests: [{ name: "r", exactly: exactly({ count: 2 }) }],
        constraints: [{ distinctAttribute: "gpu.example.com/model" }],
      },
      0,
    ],
    [
      "the first alternative that there is",
      {
        requests: [
          {
            name: "r",
            firstAvailable: [
              { name: "many", deviceClassName: "gpu", count: 3 },
              { name: "large", deviceClassName: "gpu", selectors: [isLarge] },
            ],
          },
        ],
      },
      1,
    ],
  ] as const) {
    test(`allocates ${what}`, async () => {
      const cluster = await withDevices();
      await cluster.addRequest("device", structuredClone(devices) as unknown as JsonObject);
      await cluster.addUser("web", "device");
      await cluster.wait(2);
      assert.equal((await cluster.devices("device")).length, expected);
      if (expected === 1) assert.match((await cluster.devices("device"))[0] ?? "", /\/1$/);
      await cluster.end();
    });
  }

  test("leaves out tainted devices and pools that are not complete", async () => {
    const cluster = new DeviceCluster();
    for (const node of ["a", "b", "c"]) await cluster.addNode(node);
    await cluster.create("deviceclasses", "gpu", { content: { spec: {} } });
    await cluster.addDevices("a", [device("0", "1Gi", { taints: [{ key: "broken", effect: "NoSchedule" }] })]);
    await cluster.addDevices("b", [device("0", "1Gi")], { resourceSliceCount: 2 });
    await cluster.addDevices("c", [device("0", "1Gi")]);
    const rule = { deviceSelector: { pool: "c" }, taint: { key: "broken", effect: "NoSchedule" } };
    await cluster.create("devicetaintrules", "broken", { content: { spec: rule } });
    await cluster.addRequest("device", { requests: [{ name: "r", exactly: exactly() }] });
    await cluster.addUser("web", "device");
    const tolerations = [{ key: "broken", operator: "Exists" }];
    await cluster.addRequest("tolerant", { requests: [{ name: "r", exactly: exactly({ tolerations, count: 1 }) }] });
    await cluster.addUser("other", "tolerant");
    await cluster.wait(2);
    assert.match((await cluster.outcome("web")) ?? "", /: 3 cannot allocate all claims\./);
    assert.match((await cluster.outcome("other")) ?? "", /^[ac]$/);
    await cluster.end();
  });

  test("reports selectors that fail", async () => {
    const cluster = await withDevices([{ cel: { expression: 'device.attributes["gpu.example.com"].absent' } }]);
    await cluster.addRequest("device", { requests: [{ name: "r", exactly: exactly() }] });
    await cluster.addUser("web", "device");
    await cluster.wait(2);
    assert.match(
      (await cluster.outcome("web")) ?? "",
      /class gpu: selector #0 on device .*: CEL runtime error: no such/,
    );
    await cluster.end();
  });
});
