import { isObject, type JsonObject, type KubeObject } from "../../../../base/api/object.ts";
import { quote } from "../../../../base/go/quote.ts";
import { type NodeRequest, refuse, sameValue } from "./node-request.ts";

/** nodes: a node may write its own Node, but not taints, owner references or labels that influence scheduling. */
export function admitNode(write: NodeRequest): void {
  const { node, request } = write;
  const { operation, name, object, previous } = request;
  const title = `node ${quote(node)}`;
  if (name !== node) throw refuse(write, `${title} is not allowed to modify node ${quote(name)}`);
  if (operation === "CREATE" && object) {
    if (hasConfigSource(object)) {
      // Compat: `admitNode` says "pods" here.
      throw refuse(write, `${title} is not allowed to create pods with a non-nil configSource`);
    }
    const labels = forbiddenLabels(object.metadata.labels, {});
    if (labels.length > 0) {
      throw refuse(write, `${title} is not allowed to set the following labels: ${labels.join(", ")}`);
    }
  }
  if (operation === "UPDATE" && object && previous) admitChange(write, object, previous);
}

function admitChange(write: NodeRequest, object: KubeObject, previous: KubeObject): void {
  const title = `node ${quote(write.node)}`;
  const [next, old] = [specOf(object), specOf(previous)];
  if (hasConfigSource(object) && !sameValue(next.configSource, old.configSource)) {
    throw refuse(write, `${title} is not allowed to update configSource to a new non-nil configSource`);
  }
  if (!sameValue(next.taints, old.taints)) throw refuse(write, `${title} is not allowed to modify taints`);
  if (!sameValue(object.metadata.ownerReferences, previous.metadata.ownerReferences)) {
    throw refuse(write, `${title} is not allowed to modify ownerReferences`);
  }
  const labels = forbiddenLabels(object.metadata.labels, previous.metadata.labels);
  if (labels.length > 0) throw refuse(write, `is not allowed to modify labels: ${labels.join(", ")}`);
}

const specOf = ({ spec }: KubeObject): JsonObject => (isObject(spec) ? spec : {});
const hasConfigSource = (node: KubeObject): boolean => isObject(specOf(node).configSource);

type Labels = KubeObject["metadata"]["labels"];

/** The labels that were added, removed or changed although kubelets may not do that, sorted. */
function forbiddenLabels(next: Labels = {}, previous: Labels = {}): string[] {
  const all = new Set([...Object.keys(next), ...Object.keys(previous)]);
  return [...all].filter((label) => next[label] !== previous[label] && isForbidden(label)).sort();
}

const RESTRICTED = "node-restriction.kubernetes.io";
const KUBERNETES_DOMAINS = ["kubernetes.io", "k8s.io"];
/** Upstream: `kubeletLabels`. */
const KUBELET_LABELS: readonly string[] = [
  "kubernetes.io/hostname",
  "kubernetes.io/os",
  "kubernetes.io/arch",
  "topology.kubernetes.io/zone",
  "topology.kubernetes.io/region",
  "failure-domain.beta.kubernetes.io/zone",
  "failure-domain.beta.kubernetes.io/region",
  "node.kubernetes.io/instance-type",
  "beta.kubernetes.io/instance-type",
  "beta.kubernetes.io/os",
  "beta.kubernetes.io/arch",
];
const KUBELET_DOMAINS = ["kubelet.kubernetes.io", "node.kubernetes.io"];

/** Whether a kubelet may not set a label. Upstream: `getForbiddenLabels`. */
export function isForbidden(label: string): boolean {
  const at = label.indexOf("/");
  if (at < 0) return false;
  const domain = label.slice(0, at);
  const isIn = (parents: readonly string[]) =>
    parents.some((parent) => domain === parent || domain.endsWith(`.${parent}`));
  if (isIn([RESTRICTED])) return true;
  return isIn(KUBERNETES_DOMAINS) && !KUBELET_LABELS.includes(label) && !isIn(KUBELET_DOMAINS);
}
