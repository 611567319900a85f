import { isObject } from "../../../base/api/object.ts";
import { targets } from "../matches.ts";
import type { AdmissionPlugin } from "../plugin.ts";

const NOT_READY = "node.kubernetes.io/not-ready";

/** TaintNodesByCondition: adds the taint node.kubernetes.io/not-ready to a new Node. */
export const taintNodesByCondition: AdmissionPlugin = {
  name: "TaintNodesByCondition",
  handles: (request) => request.operation === "CREATE" && targets(request, "", "nodes"),
  async mutate({ object }) {
    if (!object) return;
    const spec = isObject(object.spec) ? object.spec : {};
    const taints = Array.isArray(spec.taints) ? spec.taints : [];
    const isThere = taints.some((taint) => isObject(taint) && taint.key === NOT_READY && taint.effect === "NoSchedule");
    object.spec = isThere ? spec : { ...spec, taints: [...taints, { key: NOT_READY, effect: "NoSchedule" }] };
  },
};
