import type { ApiError } from "../../../base/api/api-error.ts";
import { isObject, type KubeObject } from "../../../base/api/object.ts";
import { compareQuantities } from "../../../base/api/quantity.ts";
import { countOf, readAmounts, roundUp } from "../../../base/api/resource-amounts.ts";
import { quote } from "../../../base/go/quote.ts";
import { podSpecOf } from "../../../kinds/types/pod.ts";
import type { ObjectAccess } from "../../../resources/model/definition.ts";
import { refusal, targets } from "../matches.ts";
import type { AdmissionPlugin, AdmissionRequest } from "../plugin.ts";
import { podAmounts } from "./pod-resources.ts";

const OS_LABEL = "kubernetes.io/os";

/** PodResizeValidator: rejects resizing a pod beyond the allocatable resources of its Node. */
export function podResizeValidator(access: ObjectAccess): AdmissionPlugin {
  return {
    name: "PodResizeValidator",
    handles: (request) => request.operation === "UPDATE" && targets(request, "", "pods", "resize"),
    async validate(request) {
      const { object, previous } = request;
      if (!object) return;
      const { nodeName: name } = podSpecOf(object);
      if (!name || previous?.metadata.generation === object.metadata.generation) return;
      const node = await access.find("", "nodes", { namespace: "", name });
      if (!node) throw refusal(request, `node ${quote(name)} not found`);
      const os = node.metadata.labels?.[OS_LABEL];
      if (os !== undefined && os !== "linux") {
        const text = `pod resize is only supported on linux nodes, node ${quote(name)} is ${quote(os)}`;
        throw withCause(refusal(request, text), "UnsupportedPlatform");
      }
      checkCapacity(request, object, node);
    },
  };
}

function checkCapacity(request: AdmissionRequest, pod: KubeObject, { status }: KubeObject): void {
  const offered = readAmounts(isObject(status) && isObject(status.allocatable) ? status.allocatable : undefined);
  const wanted = podAmounts(pod, "requests");
  const texts: string[] = [];
  for (const [name, digits] of [
    ["cpu", 3],
    ["memory", 0],
  ] as const) {
    const need = wanted.get(name) ?? countOf(0);
    const there = offered.get(name) ?? countOf(0);
    if (compareQuantities(need, there) <= 0) continue;
    texts.push(`${name}, requested: ${roundUp(need, digits)}, allocatable: ${roundUp(there, digits)}`);
  }
  if (texts.length === 0) return;
  const text = `node didn't have enough allocatable resources: ${texts.join("; ")}`;
  throw withCause(refusal(request, text), "NodeCapacity");
}

function withCause(error: ApiError, reason: string): ApiError {
  error.status.details = { ...error.status.details, causes: [{ reason }] };
  return error;
}
