import { isObject, type KubeObject } from "../../../../base/api/object.ts";
import { quote } from "../../../../base/go/quote.ts";
import { CertificateRequestError, readRequestedCommonName } from "../../../../base/pki/certificate-request.ts";
import { type NodeRequest, refuse, refuseOperation, sameValue } from "./node-request.ts";

const NODE_LEASES = "kube-node-lease";

/** leases: only the node's own Lease in kube-node-lease. */
export function admitLease(write: NodeRequest): void {
  const { node, request } = write;
  if (request.namespace !== NODE_LEASES) {
    throw refuse(write, `can only access leases in the ${quote(NODE_LEASES)} system namespace`);
  }
  if (request.name === node) return;
  throw refuse(write, "can only access node lease with the same name as the requesting node");
}

/** csinodes: only the node's own CSINode. */
export function admitCsiNode(write: NodeRequest): void {
  const { node, request } = write;
  if (request.name !== node) {
    throw refuse(write, "can only access CSINode with the same name as the requesting node");
  }
  if (request.subresource === "status") throw refuse(write, "CSIVolumeHealth feature gate is disabled");
}

/** resourceslices: only slices with the node's name. Updates are checked by the authorization mode Node. */
export function admitResourceSlice(write: NodeRequest): void {
  const { node, request } = write;
  const { operation, object, previous } = request;
  if (operation !== "CREATE" && operation !== "DELETE") return;
  const slice = operation === "CREATE" ? object : previous;
  if (isObject(slice?.spec) && slice.spec.nodeName === node) return;
  const verb = operation === "CREATE" ? "create" : "delete";
  throw refuse(write, `can only ${verb} ResourceSlice with the same NodeName as the requesting node`);
}

const NODE_SIGNERS = ["kubernetes.io/kubelet-serving", "kubernetes.io/kube-apiserver-client-kubelet"];

/** certificatesigningrequests: with the signers for kubelets, only certificates for the node's own user name. */
export function admitSigningRequest(write: NodeRequest): void {
  const { node, request } = write;
  const spec = isObject(request.object?.spec) ? request.object.spec : {};
  if (request.operation !== "CREATE" || !NODE_SIGNERS.includes(String(spec.signerName))) return;
  const bytes = Buffer.from(typeof spec.request === "string" ? spec.request : "", "base64");
  const wanted = `system:node:${node}`;
  if (commonNameIn(write, bytes.toString("latin1")) === wanted) return;
  throw refuse(write, `can only create a node CSR with CN=${wanted}`);
}

function commonNameIn(write: NodeRequest, pem: string): string {
  try {
    return readRequestedCommonName(pem);
  } catch (error) {
    if (!(error instanceof CertificateRequestError)) throw error;
    throw refuse(write, `unable to parse csr: ${error.message}`);
  }
}

/** persistentvolumeclaims/status: only fields about the size of the volume. */
export function admitClaim(write: NodeRequest): void {
  const { node, request } = write;
  const { operation, subresource, object, previous } = request;
  if (subresource !== "status") throw refuse(write, "may only update PVC status");
  if (operation !== "UPDATE" || !object || !previous) throw refuseOperation(write);
  const [next, old] = [unresizable(object), unresizable(previous)];
  if (sameValue(next, old)) return;
  const changed = changedFields(next, old);
  const text = "is not allowed to update fields other than status.quantity and status.conditions";
  throw refuse(write, `node ${quote(node)} ${text}: ${changed.join(", ")}`);
}

/** The parts of a claim that a node may not change. */
function unresizable({ kind: _, apiVersion: __, metadata, spec, status }: KubeObject): KubeObject {
  const { resourceVersion: ___, managedFields: ____, ...rest } = metadata;
  const { capacity, conditions, allocatedResources, allocatedResourceStatuses, ...others } = isObject(status)
    ? status
    : {};
  return { kind: "", apiVersion: "", metadata: rest, spec: spec ?? {}, status: others };
}

const MOST_FIELDS = 10;

/** Paths of the fields that differ, down to the innermost objects. Limited to the first ones. */
function changedFields(next: unknown, previous: unknown, path = ""): string[] {
  if (!isObject(next) || !isObject(previous)) return [path];
  const found: string[] = [];
  for (const member of new Set([...Object.keys(next), ...Object.keys(previous)])) {
    if (sameValue(next[member], previous[member])) continue;
    const below = changedFields(next[member], previous[member], path === "" ? member : `${path}.${member}`);
    for (const field of below) found.push(field);
    if (found.length >= MOST_FIELDS) break;
  }
  return found.slice(0, MOST_FIELDS);
}
