import { podAmounts, podAmountsInUse } from "../../access/admission/plugins/pod-resources.ts";
import { compareQuantities } from "../../base/api/quantity.ts";
import {
  type Amounts,
  addAmounts,
  countOf,
  NO_AMOUNTS,
  readAmounts,
  roundUp,
} from "../../base/api/resource-amounts.ts";
import type { Node } from "../../kinds/types/node.ts";
import type { Pod } from "../../kinds/types/workloads.ts";

/** A resource of which a node has not enough for a Pod. */
export interface Shortage {
  readonly resource: string;
  readonly message: string;
}

const ONE_POD: Amounts = new Map([["pods", countOf(1)]]);

/** The first resource that a Pod needs and a node lacks, with all other Pods on it. Upstream: fitsRequest of the kubelet */
export function shortageOf(node: Node, pod: Pod, others: Iterable<Pod>): Shortage | undefined {
  const capacity = readAmounts(node.status?.allocatable);
  const wanted = addAmounts(podAmounts(pod, "requests"), ONE_POD);
  let used: Amounts = NO_AMOUNTS;
  for (const other of others) used = addAmounts(addAmounts(used, podAmountsInUse(other, "requests")), ONE_POD);
  for (const [resource, amount] of wanted) {
    const has = capacity.get(resource) ?? countOf(0);
    const taken = used.get(resource) ?? countOf(0);
    const together = addAmounts(new Map([[resource, amount]]), new Map([[resource, taken]])).get(resource) ?? amount;
    if (amount.mantissa === 0n || compareQuantities(together, has) <= 0) continue;
    // Upstream: CPU is counted in thousandths.
    const digits = resource === "cpu" ? 3 : 0;
    const [requested, inUse, of] = [amount, taken, has].map((one) => roundUp(one, digits));
    const message = `Node didn't have enough resource: ${resource}, requested: ${requested}, used: ${inUse}, capacity: ${of}`;
    return { resource, message };
  }
  return undefined;
}
