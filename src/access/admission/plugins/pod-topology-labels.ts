import { isObject, type KubeObject } from "../../../base/api/object.ts";
import { podSpecOf } from "../../../kinds/types/pod.ts";
import type { ObjectAccess } from "../../../resources/model/definition.ts";
import { targets } from "../matches.ts";
import type { AdmissionPlugin } from "../plugin.ts";

const LABELS: readonly string[] = ["topology.kubernetes.io/zone", "topology.kubernetes.io/region"];

/**
 * PodTopologyLabels: copies the topology.kubernetes.io labels of the Node to a pod when it is bound or created with a
 * nodeName.
 */
export function podTopologyLabels(access: ObjectAccess): AdmissionPlugin {
  return {
    name: "PodTopologyLabels",
    handles: (request) =>
      request.operation === "CREATE" && (targets(request, "", "pods") || targets(request, "", "pods", "binding")),
    async mutate({ object, subresource }) {
      if (!object) return;
      const name = subresource === "" ? podSpecOf(object).nodeName : boundNode(object);
      if (!name) return;
      const node = await access.find("", "nodes", { namespace: "", name });
      for (const label of LABELS) {
        const value = node?.metadata.labels?.[label];
        if (value !== undefined) object.metadata.labels = { ...object.metadata.labels, [label]: value };
      }
    },
  };
}

function boundNode({ target }: KubeObject): string | undefined {
  if (!isObject(target) || target.kind !== "Node") return undefined;
  return typeof target.name === "string" ? target.name : undefined;
}
