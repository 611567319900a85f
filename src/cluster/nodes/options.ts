import { option } from "../../base/options/option.ts";
import { count, pairs } from "../../base/options/value-types.ts";

/** Options about simulated nodes. */
export const nodeOptions = {
  simulatedNodes: option(
    "simulated-nodes",
    count,
    "number of simulated nodes to create; they run Pods without containers, see docs/simulated-nodes.md",
    { default: 0 },
  ),
  simulatedNodeCapacity: option("simulated-node-capacity", pairs, "capacity of each simulated node", {
    default: { cpu: "32", memory: "256Gi", "ephemeral-storage": "1Ti", pods: "110" },
  }),
};
