import { isObject } from "../../../../base/api/object.ts";
import { countOf } from "../../../../base/api/resource-amounts.ts";
import { countName, type Evaluator, isWrite } from "./evaluator.ts";

const COUNT = countName("", "services");
const TRACKED = [COUNT, "services", "services.nodeports", "services.loadbalancers"];

/** Evaluator of Services: counts services, services.loadbalancers and services.nodeports. */
export const serviceEvaluator: Evaluator = {
  handles: isWrite,
  tracks: (name) => TRACKED.includes(name),
  usage({ spec }) {
    const { type, ports, allocateLoadBalancerNodePorts } = isObject(spec) ? spec : {};
    const all = Array.isArray(ports) ? ports : [];
    // Node ports are allocated later, so all ports that will get one are counted.
    const chosen = all.filter((port) => isObject(port) && port.nodePort);
    const isBalanced = type === "LoadBalancer";
    const taken = isBalanced && allocateLoadBalancerNodePorts === false ? chosen : all;
    return new Map([
      [COUNT, countOf(1)],
      ["services", countOf(1)],
      ["services.nodeports", countOf(isBalanced || type === "NodePort" ? taken.length : 0)],
      ["services.loadbalancers", countOf(isBalanced ? 1 : 0)],
    ]);
  },
};
