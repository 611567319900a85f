import { quote } from "../../../../base/go/quote.ts";
import { podSpecOf } from "../../../../kinds/types/pod.ts";
import { podStatusOf } from "../../../../kinds/types/pod-status.ts";
import { apiObjectReference, UnknownSource } from "./api-object-references.ts";
import {
  isMirrorPod,
  MIRROR_ANNOTATION,
  type NodeRequest,
  notListed,
  refuse,
  refuseOperation,
  sameValue,
} from "./node-request.ts";

/** pods: a node may create its own mirror pods and delete pods that are bound to it. */
export async function admitPod(write: NodeRequest): Promise<void> {
  const { node, request } = write;
  const { operation, subresource, previous } = request;
  if (subresource === "status") return admitStatus(write);
  if (subresource === "eviction") return admitEviction(write);
  if (subresource !== "") {
    throw refuse(write, `unexpected pod subresource ${quote(subresource)}, only 'status' and 'eviction' are allowed`);
  }
  if (operation === "CREATE") return admitCreation(write);
  if (operation !== "DELETE") {
    throw refuse(
      write,
      `unexpected operation ${quote(operation)}, node ${quote(node)} can only create and delete mirror pods`,
    );
  }
  // Compat: deletecollection has no name, so `podsGetter` finds no pod: 404, and all pods remain.
  if (request.name === "") throw notListed("pod", "");
  if (previous && podSpecOf(previous).nodeName === node) return;
  throw refuse(write, `node ${quote(node)} can only delete pods with spec.nodeName set to itself`);
}

async function admitCreation(write: NodeRequest): Promise<void> {
  const { node, request, access } = write;
  const { object } = request;
  if (!object) return;
  const title = `node ${quote(node)}`;
  if (!isMirrorPod(object)) {
    const missing = `pod does not have ${quote(MIRROR_ANNOTATION)} annotation`;
    throw refuse(write, `${missing}, ${title} can only create mirror pods`);
  }
  const spec = podSpecOf(object);
  if (spec.nodeName !== node) {
    throw refuse(write, `${title} can only create pods with spec.nodeName set to itself`);
  }
  const owners = object.metadata.ownerReferences ?? [];
  const [owner] = owners;
  if (owners.length > 1) {
    throw refuse(write, `${title} can only create pods with a single owner reference set to itself`);
  }
  if (owner?.apiVersion !== "v1" || owner.kind !== "Node" || owner.name !== node) {
    throw refuse(write, `${title} can only create pods with an owner reference set to itself`);
  }
  if (owner.controller !== true) {
    throw refuse(write, `${title} can only create pods with a controller owner reference set to itself`);
  }
  if (owner.blockOwnerDeletion === true) {
    throw refuse(write, `${title} must not set blockOwnerDeletion on an owner reference`);
  }
  const found = await access.find("", "nodes", { namespace: "", name: node });
  if (!found) throw notListed("node", node);
  const { uid = "" } = found.metadata;
  if (owner.uid !== uid) throw refuse(write, `node ${node} UID mismatch: expected ${owner.uid ?? ""} got ${uid}`);
  const reference = referenceIn(write, spec);
  if (reference !== undefined) throw refuse(write, `${title} can not create pods that reference ${reference}`);
}

function referenceIn(write: NodeRequest, spec: Parameters<typeof apiObjectReference>[0]): string | undefined {
  try {
    return apiObjectReference(spec);
  } catch (error) {
    if (!(error instanceof UnknownSource)) throw error;
    throw refuse(write, `error checking mirror pod for API references: ${error.message}`);
  }
}

function admitStatus(write: NodeRequest): void {
  const { node, request } = write;
  const { object, previous, operation } = request;
  if (operation !== "UPDATE" || !object || !previous) throw refuseOperation(write);
  const title = `node ${quote(node)}`;
  if (podSpecOf(previous).nodeName !== node) {
    throw refuse(write, `${title} can only update pod status for pods with spec.nodeName set to itself`);
  }
  if (!sameValue(object.metadata.labels, previous.metadata.labels)) {
    throw refuse(write, `${title} cannot update labels through pod status`);
  }
  const [next, old] = [podStatusOf(object), podStatusOf(previous)];
  const changed = CLAIM_STATUSES.find(([member]) => !sameValue(next[member], old[member]));
  if (changed) throw refuse(write, `${title} cannot update ${changed[1]}`);
}

/** Status fields about claims. Compat: `admitPodStatus` spells the first one "statues". */
const CLAIM_STATUSES: readonly (readonly [member: string, title: string])[] = [
  ["resourceClaimStatuses", "resource claim statues"],
  ["extendedResourceClaimStatus", "extended resource claim status"],
  ["nodeAllocatableResourceClaimStatuses", "node allocatable resource claim statuses"],
];

async function admitEviction(write: NodeRequest): Promise<void> {
  const { node, request, access } = write;
  if (request.operation !== "CREATE") throw refuseOperation(write, request.operation);
  const { name } = request;
  if (name === "") throw refuse(write, "could not determine pod from request data");
  const pod = await access.find("", "pods", { namespace: request.namespace, name });
  if (!pod) throw notListed("pod", name);
  if (podSpecOf(pod).nodeName === node) return;
  throw refuse(write, `node ${node} can only evict pods with spec.nodeName set to itself`);
}
