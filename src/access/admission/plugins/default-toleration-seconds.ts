import { isObject, type JsonObject } from "../../../base/api/object.ts";
import { targets } from "../matches.ts";
import type { AdmissionPlugin } from "../plugin.ts";

const TAINTS: readonly string[] = ["node.kubernetes.io/not-ready", "node.kubernetes.io/unreachable"];
const SECONDS = 300;

/**
 * DefaultTolerationSeconds: adds tolerations of the taints not-ready and unreachable for 300 s to pods, unless they
 * have their own.
 */
export const defaultTolerationSeconds: AdmissionPlugin = {
  name: "DefaultTolerationSeconds",
  handles: (request) => request.operation !== "DELETE" && targets(request, "", "pods"),
  async mutate({ object }) {
    if (!object || !isObject(object.spec)) return;
    const { spec } = object;
    const tolerations = Array.isArray(spec.tolerations) ? spec.tolerations.filter(isObject) : [];
    const missing = TAINTS.filter((key) => !tolerations.some((one) => tolerates(one, key)));
    if (missing.length === 0) return;
    const added = missing.map((key) => ({
      key,
      operator: "Exists",
      effect: "NoExecute",
      tolerationSeconds: SECONDS,
    }));
    spec.tolerations = [...tolerations, ...added];
  },
};

function tolerates({ key, effect }: JsonObject, taint: string): boolean {
  return (!key || key === taint) && (!effect || effect === "NoExecute");
}
