import { isDeepStrictEqual } from "node:util";
import { isObject, type KubeObject } from "../../api/object.ts";
import { canonicalQuantity } from "../../api/quantity.ts";
import { quote } from "../../lib/go/quote.ts";
import type { ObjectAccess } from "../../resources/model/definition.ts";
import { isSidecar } from "../../types/container.ts";
import { type PodSpec, podSpecOf } from "../../types/pod.ts";
import type { Volume } from "../../types/volume.ts";
import { refusal, targets } from "../matches.ts";
import type { AdmissionPlugin } from "../plugin.ts";

/**
 * Declared features that a change of a running pod needs its node to have, in the order in which a refusal names them.
 */
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
 * NodeDeclaredFeatureValidator: a pod on a node cannot be changed in ways that `status.declaredFeatures` of its Node
 * does not list.
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
