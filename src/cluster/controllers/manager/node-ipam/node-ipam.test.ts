import assert from "node:assert/strict";
import { afterEach, beforeEach, suite, test } from "node:test";
import { NodeCluster } from "../nodes.suite.ts";
import { nodeIpam } from "./node-ipam.ts";

suite("node-ipam-controller", () => {
  let cluster: NodeCluster;

  beforeEach(() => {
    cluster = new NodeCluster();
  });
  afterEach(() => cluster.stop());

  const start = (...clusterCidrs: readonly string[]) =>
    cluster.start(
      nodeIpam({
        resources: cluster.resources,
        client: cluster.client,
        informers: cluster.informers,
        report: cluster.report,
        addressRanges: { clusterCidrs, serviceCidrs: ["10.0.0.0/24"] },
      }),
    );
  const hasRanges = (name: string, ...ranges: readonly string[]) =>
    cluster.pass(async () => {
      const { podCIDR, podCIDRs } = (await cluster.node(name))?.spec ?? {};
      return podCIDR === ranges[0] && JSON.stringify(podCIDRs) === JSON.stringify(ranges);
    });
  const create = (name: string, podCIDRs?: string[]) =>
    cluster.create("nodes", name, { content: { spec: podCIDRs ? { podCIDRs, podCIDR: podCIDRs[0] ?? "" } : {} } });

  test("assigns the next free range that no Service uses", async () => {
    await create("old", ["10.0.1.0/24"]);
    start("10.0.0.0/16");
    await create("a");
    await hasRanges("a", "10.0.2.0/24");
    await create("b");
    await hasRanges("b", "10.0.3.0/24");
    assert.deepEqual(cluster.problems, []);
  });

  test("assigns a range of each family", async () => {
    start("10.1.0.0/16", "fd00:10:20::/56");
    await create("a");
    await hasRanges("a", "10.1.0.0/24", "fd00:10:20::/64");
    await create("b");
    await hasRanges("b", "10.1.1.0/24", "fd00:10:20:1::/64");
  });

  test("uses the range of a deleted node again, and records an Event while there is none", async () => {
    start("10.1.0.0/23");
    await create("a");
    await hasRanges("a", "10.1.0.0/24");
    await create("b");
    await hasRanges("b", "10.1.1.0/24");
    await create("c");
    await cluster.hasNews("Normal CIDRNotAvailable: Node c status is now: CIDRNotAvailable", "c");
    await cluster.delete("nodes", "a", {}, "");
    await hasRanges("c", "10.1.0.0/24");
  });

  test("does nothing without a range of the cluster", async () => {
    start();
    await create("a");
    await cluster.wait(10);
    assert.equal((await cluster.node("a"))?.spec?.podCIDR, undefined);
  });

  for (const [cidrs, message] of [
    [["10.0.0.0/25"], /Invalid --cluster-cidr, mask size/],
    [["fd00::/32"], /the node CIDR size is too big/],
    [["10.0.0.0/16", "10.1.0.0/16"], /one for IPv4 and one for IPv6/],
  ] as const) {
    test(`rejects ${cidrs.join(",")}`, () => {
      assert.throws(() => start(...cidrs), message);
    });
  }
});
