import assert from "node:assert/strict";
import { suite, test } from "node:test";
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
});
