import { badRequest, notFound } from "../api/api-error.ts";
import type { KubeObject } from "../api/object.ts";
import type { ObjectAccess } from "../resources/model/definition.ts";
import type { ObjectKey } from "../resources/model/keys.ts";
import { type PodSpec, podSpecOf } from "../types/pod.ts";
import { containersOf } from "../types/pod-containers.ts";

/** A pod. Throws NotFound. */
export async function findPod(access: Pick<ObjectAccess, "find">, key: ObjectKey): Promise<KubeObject> {
  const pod = await access.find("", "pods", key);
  if (!pod) throw notFound({ group: "", resource: "pods" }, key.name);
  return pod;
}

/** The container that is meant. Throws BadRequest. Upstream: `validateContainer`. */
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

/** The node that runs a pod; empty when it has none yet. */
export function nodeNameOf(pod: KubeObject): string {
  return podSpecOf(pod).nodeName ?? "";
}

/** The same. Throws BadRequest when there is none. */
export function requireNode(pod: KubeObject): string {
  const node = nodeNameOf(pod);
  if (node === "") throw badRequest(`pod ${pod.metadata.name} does not have a host assigned`);
  return node;
}
