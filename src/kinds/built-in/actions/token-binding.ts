import { badRequest, conflict, notFound } from "../../../base/api/api-error.ts";
import { pathSegment } from "../../../base/api/names.ts";
import type { JsonObject, KubeObject } from "../../../base/api/object.ts";
import { quote } from "../../../base/go/quote.ts";
import type { ActionCall } from "../../../resources/model/actions.ts";
import { podSpecOf } from "../../types/pod.ts";

/** BoundObjectReference of authentication.k8s.io/v1. */
export interface BoundObjectReference extends JsonObject {
  kind?: string;
  apiVersion?: string;
  name?: string;
  uid?: string;
}

interface ObjectClaim extends JsonObject {
  name: string;
  uid?: string;
}

/** The objects a token is bound to, as in its claim `kubernetes.io`. */
export interface BoundObjects extends JsonObject {
  pod?: ObjectClaim;
  secret?: ObjectClaim;
  node?: ObjectClaim;
}

const WEBHOOK_KINDS: readonly string[] = ["ValidatingWebhookConfiguration", "MutatingWebhookConfiguration"];

/** Whether a token is bound to a webhook configuration: API servers use it to authenticate to webhooks. */
export function isWebhookReference({ apiVersion, kind = "" }: BoundObjectReference): boolean {
  return apiVersion === "admissionregistration.k8s.io/v1" && WEBHOOK_KINDS.includes(kind);
}

const PLURALS = { Pod: "pods", Secret: "secrets", Node: "nodes" } as const;

/** The claims that bind a token to the object of `spec.boundObjectRef`. Throws if that is not possible. */
export async function bindObject(call: ActionCall, reference: BoundObjectReference): Promise<BoundObjects> {
  const { name = "", uid = "" } = reference;
  const kind = boundKind(reference);
  const found = await findBound(call, kind, name);
  if (kind === "Pod" && podSpecOf(found).serviceAccountName !== call.key.name) {
    const account = quote(call.key.name);
    throw badRequest(
      `cannot bind token for serviceaccount ${account} to pod running with different serviceaccount name.`,
    );
  }
  if (uid !== "" && uid !== found.metadata.uid) {
    throw conflict(
      { group: "", resource: kind },
      name,
      `the UID in the bound object reference (${uid}) does not match the UID in record. The object might have been deleted and then recreated`,
    );
  }
  if (kind === "Secret") return { secret: claimOf(found) };
  if (kind === "Node") return { node: claimOf(found) };
  const node = await nodeOf(call, found);
  return { ...(node ? { node } : {}), pod: claimOf(found) };
}

/** Compat: `TokenREST.Create` accepts any version of the core group for a Pod, Secret or Node. */
function boundKind({ apiVersion = "", kind = "" }: BoundObjectReference): keyof typeof PLURALS {
  const parts = apiVersion.split("/");
  // Compat: `schema.FromAPIVersionAndKind` parses what it cannot split as no group and no version.
  const [group, version] = parts.length === 1 ? ["", apiVersion] : parts.length === 2 ? parts : ["", ""];
  if (group === "" && (kind === "Pod" || kind === "Secret" || kind === "Node")) return kind;
  const printed = `${group}/${version}, Kind=${kind}`;
  throw badRequest(
    isWebhookReference({ apiVersion, kind })
      ? `cannot bind token to object of type ${printed} (feature gate APIServerWebhookAuthenticationToken is disabled)`
      : `cannot bind token to object of type ${printed}`,
  );
}

async function findBound({ access, key }: ActionCall, kind: keyof typeof PLURALS, name: string): Promise<KubeObject> {
  const plural = PLURALS[kind];
  const namespace = kind === "Node" ? "" : key.namespace;
  checkName(name);
  const found = await access.find("", plural, { namespace, name }, "newest");
  if (!found) throw notFound({ group: "", resource: plural }, name);
  return found;
}

/** Compat: the messages of `NamespaceKeyFunc`, which builds the lookup key. */
function checkName(name: string): void {
  if (name === "") throw badRequest("Name parameter required.");
  const problems = pathSegment(name);
  if (problems.length > 0) throw badRequest(`Name parameter invalid: ${quote(name)}: ${problems.join(";")}`);
}

const claimOf = ({ metadata }: KubeObject): ObjectClaim => ({ name: metadata.name ?? "", uid: metadata.uid });

/** The node of the pod. If the Node does not exist, the token still has its name. */
async function nodeOf({ access }: ActionCall, pod: KubeObject): Promise<ObjectClaim | undefined> {
  const { nodeName = "" } = podSpecOf(pod);
  if (nodeName === "") return undefined;
  const node = await access.find("", "nodes", { namespace: "", name: nodeName });
  return node ? claimOf(node) : { name: nodeName };
}
