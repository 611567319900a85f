import { plainError } from "../../../../base/api/api-error.ts";
import { resourceAttributes } from "../../../../base/api/attributes.ts";
import { isObject, type JsonObject, type KubeObject } from "../../../../base/api/object.ts";
import { quote } from "../../../../base/go/quote.ts";
import { podSpecOf } from "../../../../kinds/types/pod.ts";
import { isMirrorPod, type NodeRequest, notListed, refuse, refuseOperation } from "./node-request.ts";

const textIn = (spec: JsonObject, member: string): string => String(spec[member] ?? "");

/** podcertificaterequests: only for pods that run on the node, and for signers that they mount. */
export async function admitPodCertificateRequest(write: NodeRequest): Promise<void> {
  const { request } = write;
  const { operation, subresource, object } = request;
  if (operation !== "CREATE") throw refuseOperation(write, operation);
  if (subresource !== "") throw refuse(write, `unexpected subresource ${subresource}`);
  const spec = isObject(object?.spec) ? object.spec : {};
  await requireNode(write, spec);
  const pod = await requirePod(write, spec);
  await requireAccount(write, spec, pod);
  await requireSigner(write, spec, pod);
}

/**
 * Compat: NodeRestriction responds with 500 if `nodeUID`, `podUID` or `serviceAccountUID` of a PodCertificateRequest
 * does not match. Its informers may lag behind, so the kubelet retries.
 */
const unsettled = (text: string) => plainError(500, text);

const titleOf = ({ request }: NodeRequest, spec: JsonObject): string =>
  quote(`${request.namespace}/${textIn(spec, "podName")}`);

async function requireNode(write: NodeRequest, spec: JsonObject): Promise<void> {
  const name = textIn(spec, "nodeName");
  if (name !== write.node) {
    const title = `PodCertificateRequest.Spec.NodeName=${quote(name)}`;
    throw refuse(write, `${title}, which is not the requesting node ${quote(write.node)}`);
  }
  const node = await write.access.find("", "nodes", { namespace: "", name });
  if (!node) throw missing(`node ${quote(name)}`, "node", name);
  const { uid = "" } = node.metadata;
  if (uid === textIn(spec, "nodeUID")) return;
  const text = `names node UID ${quote(textIn(spec, "nodeUID"))}, inconsistent with the running node (${quote(uid)})`;
  throw unsettled(`PodCertificateRequest for pod ${titleOf(write, spec)} ${text}`);
}

async function requirePod(write: NodeRequest, spec: JsonObject): Promise<KubeObject> {
  const { access, request } = write;
  const { namespace } = request;
  const title = titleOf(write, spec);
  const name = textIn(spec, "podName");
  const pod = await access.find("", "pods", { namespace, name });
  if (!pod) throw missing(`pod ${title}`, "pod", name);
  const { uid = "" } = pod.metadata;
  const sent = textIn(spec, "podUID");
  if (sent !== uid) {
    const text = `contains pod UID (${quote(sent)}) which differs from running pod ${quote(uid)}`;
    throw unsettled(`PodCertificateRequest for pod ${title} ${text}`);
  }
  if (podSpecOf(pod).nodeName !== write.node) {
    const text = `is not running on node ${quote(write.node)} named in the PodCertificateRequest`;
    throw refuse(write, `pod ${title} ${text}`);
  }
  if (isMirrorPod(pod)) throw refuse(write, `pod ${title} is a mirror pod`);
  return pod;
}

async function requireAccount(write: NodeRequest, spec: JsonObject, pod: KubeObject): Promise<void> {
  const title = `PodCertificateRequest for pod ${titleOf(write, spec)}`;
  const name = textIn(spec, "serviceAccountName");
  const used = podSpecOf(pod).serviceAccountName ?? "";
  if (name !== used) {
    const text = `contains serviceAccountName (${quote(name)}) that differs from running pod (${quote(used)})`;
    throw refuse(write, `${title} ${text}`);
  }
  const { namespace } = write.request;
  const account = await write.access.find("", "serviceaccounts", { namespace, name });
  if (!account) throw missing(`service account ${quote(`${namespace}/${name}`)}`, "serviceaccount", name);
  const { uid = "" } = account.metadata;
  const sent = textIn(spec, "serviceAccountUID");
  if (sent === uid) return;
  const text = `names service account UID ${quote(sent)}, which differs from the running service account (${quote(uid)})`;
  throw unsettled(`${title} ${text}`);
}

function missing(title: string, singular: string, name: string) {
  const { message } = notListed(singular, name);
  return unsettled(`while retrieving ${title} named in the PodCertificateRequest: ${message}`);
}

async function requireSigner(write: NodeRequest, spec: JsonObject, pod: KubeObject): Promise<void> {
  const signer = textIn(spec, "signerName");
  if (mountsSigner(pod, signer)) return;
  const { user, resource, namespace } = write.request;
  const { decision, error } = await write.authorizer.authorize(
    resourceAttributes(user, {
      verb: "request-serviceaccounts-podcertificate-signer",
      apiGroup: resource.definition.group,
      apiVersion: resource.version.name,
      // Compat: RBAC has no resources with slashes, so they are replaced by colons, like in names of
      // ClusterTrustBundles.
      resource: signer.replaceAll("/", ":"),
      namespace,
      name: textIn(spec, "serviceAccountName"),
    }),
  );
  if (decision === "allow") return;
  if (error !== undefined) {
    const text = `error authorizing ${user.name} to request podcertificaterequests for signer ${quote(signer)}`;
    throw refuse(write, `${text}: ${error}`);
  }
  const text = `does not mount a podCertificate projected volume for signer ${quote(signer)}`;
  throw refuse(write, `pod ${titleOf(write, spec)} ${text}`);
}

const mountsSigner = (pod: KubeObject, signer: string): boolean =>
  (podSpecOf(pod).volumes ?? []).some(({ projected }) =>
    (projected?.sources ?? []).some(
      ({ podCertificate }) => isObject(podCertificate) && (podCertificate.signerName ?? "") === signer,
    ),
  );
