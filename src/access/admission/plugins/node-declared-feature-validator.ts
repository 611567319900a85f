import { isDeepStrictEqual } from "node:util";
import { isObject, type KubeObject } from "../../../base/api/object.ts";
import { canonicalQuantity } from "../../../base/api/quantity.ts";
import { quote } from "../../../base/go/quote.ts";
import { isSidecar } from "../../../kinds/types/container.ts";
import { type PodSpec, podSpecOf } from "../../../kinds/types/pod.ts";
import type { Volume } from "../../../kinds/types/volume.ts";
import type { ObjectAccess } from "../../../resources/model/definition.ts";
import { refusal, targets } from "../matches.ts";
import type { AdmissionPlugin } from "../plugin.ts";

/** Features that a node must declare for a change of a running pod, in the order in which error messages list them. */
const FEATURES: readonly { readonly name: string; isNeeded(next: PodSpec, previous: PodSpec): boolean }[] = [
  {
    name: "InPlacePodLevelResourcesVerticalScaling",
    isNeeded: (next, previous) => !isDeepStrictEqual(next.resources, previous.resources),
  },
  {
    name: "InPlacePodVerticalScalingInitContainers",
    isNeeded: (next, previous) =>
      (previous.initContainers ?? []).some(
        (one, index) => !isSidecar(one) && !isDeepStrictEqual(one.resources, next.initContainers?.[index]?.resources),
      ),
  },
  { name: "InPlacePodVerticalScalingMemoryBackedVolumes", isNeeded: resizesMemoryVolume },
];

/**
 * NodeDeclaredFeatureValidator: rejects changes of a running pod that need features missing in
 * `status.declaredFeatures` of its Node.
 */
export function nodeDeclaredFeatureValidator(access: ObjectAccess): AdmissionPlugin {
  return {
    name: "NodeDeclaredFeatureValidator",
    handles: (request) =>
      request.operation === "UPDATE" && (targets(request, "", "pods") || targets(request, "", "pods", "resize")),
    async validate(request) {
      const { object, previous } = request;
      if (!object || !previous || object.metadata.generation === previous.metadata.generation) return;
      const next = podSpecOf(object);
      if (!next.nodeName) return;
      const old = podSpecOf(previous);
      const needed = FEATURES.filter(({ isNeeded }) => isNeeded(next, old)).map(({ name }) => name);
      if (needed.length === 0) return;
      const title = quote(next.nodeName);
      const node = await access.find("", "nodes", { namespace: "", name: next.nodeName });
      if (!node) throw refusal(request, `node ${title} not found`);
      const declared = featuresOf(node);
      const missing = needed.filter((name) => !declared.includes(name));
      if (missing.length === 0) return;
      const text = `pod update requires features ${missing.join(", ")} which are not available on node ${title}`;
      throw refusal(request, text);
    },
  };
}

function featuresOf({ status }: KubeObject): unknown[] {
  return isObject(status) && Array.isArray(status.declaredFeatures) ? status.declaredFeatures : [];
}

function resizesMemoryVolume({ volumes = [] }: PodSpec, { volumes: previous = [] }: PodSpec): boolean {
  if (volumes.length !== previous.length) return false;
  return volumes.some((volume, index) => {
    const old = previous[index];
    if (old === undefined || old.name !== volume.name) return false;
    const [size, oldSize] = [memorySizeOf(volume), memorySizeOf(old)];
    return size !== undefined && oldSize !== undefined && size !== oldSize;
  });
}

function memorySizeOf({ emptyDir }: Volume): string | undefined {
  if (!isObject(emptyDir) || emptyDir.medium !== "Memory" || emptyDir.sizeLimit === undefined) return undefined;
  return canonicalQuantity(String(emptyDir.sizeLimit));
}
