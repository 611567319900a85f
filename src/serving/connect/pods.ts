import { badRequest, notFound } from "../../base/api/api-error.ts";
import type { KubeObject } from "../../base/api/object.ts";
import { type PodSpec, podSpecOf } from "../../kinds/types/pod.ts";
import { containersOf } from "../../kinds/types/pod-containers.ts";
import type { ObjectAccess } from "../../resources/model/definition.ts";
import type { ObjectKey } from "../../resources/model/keys.ts";

/** Returns a pod. Throws NotFound. */
export async function findPod(access: Pick<ObjectAccess, "find">, key: ObjectKey): Promise<KubeObject> {
  const pod = await access.find("", "pods", key);
  if (!pod) throw notFound({ group: "", resource: "pods" }, key.name);
  return pod;
}

/** The selected container. Throws BadRequest. Upstream: `validateContainer`. */
export function containerOf(pod: KubeObject, wanted: string): string {
  const spec: PodSpec = podSpecOf(pod);
  const name = pod.metadata.name ?? "";
  const all = containersOf(spec).map((container) => container.name ?? "");
  if (wanted !== "") {
    if (!all.includes(wanted)) throw badRequest(`container ${wanted} is not valid for pod ${name}`);
    return wanted;
  }
  const { containers = [] } = spec;
  const [only] = containers;
  if (containers.length === 1 && only) return only.name ?? "";
  const must = `a container name must be specified for pod ${name}`;
  throw badRequest(containers.length === 0 ? must : `${must}, choose one of: [${all.join(" ")}]`);
}

/** The node of a pod. Empty if the pod is not scheduled. */
export function nodeNameOf(pod: KubeObject): string {
  return podSpecOf(pod).nodeName ?? "";
}

/** The node of a pod. Throws BadRequest if the pod is not scheduled. */
export function requireNode(pod: KubeObject): string {
  const node = nodeNameOf(pod);
  if (node === "") throw badRequest(`pod ${pod.metadata.name} does not have a host assigned`);
  return node;
}
