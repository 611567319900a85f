import { parseRange } from "../../../../base/net/ip-range.ts";
import type { Node } from "../../../../kinds/types/node.ts";
import { type Controller, idleController } from "../../shared/controller.ts";
import { EventRecorder } from "../../shared/event-recorder.ts";
import { keyOf, type Observer } from "../../shared/informer.ts";
import { loop, type Queue, source } from "../../shared/loop.ts";
import type { ManagerContext } from "../../shared/manager-context.ts";
import { nodeEventTarget } from "../../shared/nodes.ts";
import { RangeSet } from "./range-set.ts";

const NAME = "node-ipam-controller";

/**
 * node-ipam-controller: assigns a range of Pod addresses to every node, if the cluster has one. Throws if the ranges of
 * the cluster are not usable.
 */
export function nodeIpam(context: ManagerContext): Controller {
  const { clusterCidrs = [], serviceCidrs = [] } = context.addressRanges ?? {};
  const makeSets = () => rangeSets(clusterCidrs, serviceCidrs);
  if (makeSets().length === 0) return idleController(NAME);
  // Which ranges are in use follows from the nodes that it sees when it starts.
  return { name: NAME, run: (signal) => ipamLoop(context, makeSets()).run(signal) };
}

/** A set for each range of the cluster, without the addresses of Services. */
function rangeSets(clusterCidrs: readonly string[], serviceCidrs: readonly string[]): RangeSet[] {
  const parsed = clusterCidrs.map((text) => {
    const range = parseRange(text);
    if (range === undefined) throw new Error(`--cluster-cidr ${text} is not a CIDR`);
    return range;
  });
  if (new Set(parsed.map(({ size }) => size)).size !== parsed.length) {
    throw new Error("--cluster-cidr takes one range, or one for IPv4 and one for IPv6");
  }
  const sets = parsed.map((range) => new RangeSet(range));
  for (const set of sets) for (const range of serviceCidrs) if (set.overlaps(range)) set.occupy(range);
  return sets;
}

function ipamLoop(context: ManagerContext, sets: readonly RangeSet[]): Controller {
  const { resources, client, informers, report } = context;
  const { informer: nodes } = informers.of<Node>("", "nodes");
  const recorder = new EventRecorder(context, "cidrAllocator");

  const recordStatus = (node: Node, reason: string): void => {
    const message = `Node ${node.metadata.name} status is now: ${reason}`;
    recorder.record(nodes.resource, nodeEventTarget(node), "Normal", reason, message);
  };

  const release = (ranges: readonly string[]): void => {
    for (const [index, range] of ranges.entries()) sets[index]?.release(range);
  };

  const occupy = ({ metadata: { name }, spec: { podCIDRs = [] } = {} }: Node): void => {
    for (const [index, range] of podCIDRs.entries()) {
      const set = sets[index];
      try {
        if (set === undefined) throw new Error("there is no range of the cluster for it");
        set.occupy(range);
      } catch (cause) {
        report(NAME, new Error(`the range ${range} of node ${name} is not managed`, { cause }));
      }
    }
  };

  const observe =
    (queue: Queue): Observer<Node> =>
    (before, after) => {
      const hadRange = (before?.spec?.podCIDRs ?? []).length > 0;
      const hasRange = (after?.spec?.podCIDRs ?? []).length > 0;
      if (after === undefined) release(before?.spec?.podCIDRs ?? []);
      else if (hasRange && !hadRange) occupy(after);
      else if (!hasRange) queue.add(keyOf(after));
    };

  const allocate = (node: Node): string[] => {
    const ranges: string[] = [];
    for (const [index, set] of sets.entries()) {
      const range = set.allocate();
      if (range === undefined) {
        release(ranges);
        recordStatus(node, "CIDRNotAvailable");
        const cause = "CIDR allocation failed; there are no remaining CIDRs left to allocate in the accepted range";
        throw new Error(`failed to allocate cidr from cluster cidr at idx:${index}: ${cause}`);
      }
      ranges.push(range);
    }
    return ranges;
  };

  return loop({
    name: NAME,
    workers: 30,
    clock: resources.clock,
    report,
    sources: [source(nodes, observe)],
    async sync(name) {
      const node = nodes.get(name);
      if (node === undefined || node.metadata.deletionTimestamp !== undefined) return;
      if ((node.spec?.podCIDRs ?? []).length > 0) return;
      const podCIDRs = allocate(node);
      const patch = { spec: { podCIDR: podCIDRs[0] ?? "", podCIDRs } };
      try {
        const { metadata } = await client.patch(nodes.resource, { namespace: "", name }, patch, { isStrategic: true });
        await nodes.sees(metadata.resourceVersion);
      } catch (error) {
        release(podCIDRs);
        recordStatus(node, "CIDRAssignmentFailed");
        throw error;
      }
    },
  });
}
