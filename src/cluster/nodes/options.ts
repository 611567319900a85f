import { option } from "../../base/options/option.ts";
import { count, pairs, reject, type ValueType } from "../../base/options/value-types.ts";

/** Nodes whose Leases are renewed less often become NotReady. */
const MAX_LEASE_SECONDS = 160;
const LEASE_SECONDS = `a whole number from 1 to ${MAX_LEASE_SECONDS}`;
const isLeaseDuration = (value: unknown) =>
  Number.isSafeInteger(value) && Number(value) > 0 && Number(value) <= MAX_LEASE_SECONDS;

const leaseSeconds: ValueType<number> = {
  ...count,
  placeholder: "seconds",
  expected: LEASE_SECONDS,
  accepts: isLeaseDuration,
  parse: (given) =>
    /^\d{1,3}$/.test(given) && isLeaseDuration(Number(given)) ? Number(given) : reject(`expected ${LEASE_SECONDS}`),
};

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
  simulatedNodeLeaseSeconds: option(
    "simulated-node-lease-seconds",
    leaseSeconds,
    "duration of the Lease of each simulated node, which is renewed after a quarter of it; at most 160",
    { default: 40 },
  ),
};
