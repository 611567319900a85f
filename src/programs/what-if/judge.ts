import { isDeepStrictEqual } from "node:util";
import { impersonatedGroups } from "../../access/authentication/impersonation/identity-checks.ts";
import { forbiddenBy } from "../../access/authorization/forbidden.ts";
import { ApiError } from "../../base/api/api-error.ts";
import type { KubeObject } from "../../base/api/object.ts";
import type { UserInfo } from "../../base/api/user-info.ts";
import { unifiedDiff } from "../../base/util/unified-diff.ts";
import type { ServedResource } from "../../resources/model/catalog.ts";
import { pathOf } from "../../resources/model/resource-path.ts";
import { ADMINISTRATOR } from "../server/identity.ts";
import type { ImaginedCluster } from "./imagined-cluster.ts";
import type { ManifestObject } from "./manifests.ts";
import { type Refusal, refusalOf, refusedHere } from "./rules.ts";
import { printShown, shownPair } from "./shown-object.ts";

/** The result of applying an object of a manifest. */
export interface Judgement {
  readonly apiVersion: string;
  readonly kind: string;
  /** Empty for cluster-scoped kinds. */
  readonly namespace: string;
  readonly name: string;
  readonly file: string;
  readonly line: number;
  readonly verdict: "created" | "changed" | "unchanged" | "refused";
  /** A unified diff of YAML; empty if nothing would change. */
  readonly diff: string;
  /** The resulting object, without managed fields. Omitted if it was denied. */
  readonly object?: KubeObject;
  readonly refusal?: Refusal;
  /** Warnings of the server. */
  readonly warnings: readonly string[];
}

/** How to apply manifests. Names are those of kubectl's flags. */
export interface ApplyOptions {
  readonly fieldManager: string;
  readonly forceConflicts: boolean;
  readonly validate: "Strict" | "Warn" | "Ignore";
  /** Default namespace; objects in other namespaces are rejected. If omitted: default, and all are accepted. */
  readonly namespace?: string;
  /** The user who applies them. Default: an administrator. */
  readonly as?: { readonly user: string; readonly groups: readonly string[]; readonly uid?: string };
  /** Whether each object is applied to the state alone, as with `--dry-run=server`, without the objects before it. */
  readonly isIsolated: boolean;
  readonly showManagedFields: boolean;
}

/** Defaults of `ApplyOptions`. */
export const DEFAULT_APPLY: ApplyOptions = {
  fieldManager: "kubectl",
  forceConflicts: false,
  validate: "Strict",
  isIsolated: false,
  showManagedFields: false,
};

const HEADERS = { "content-type": "application/apply-patch+yaml", "user-agent": "kubectl" };

/** Applies an object in an imagined cluster. */
export async function judge(
  cluster: ImaginedCluster,
  manifest: ManifestObject,
  options: ApplyOptions,
): Promise<Judgement> {
  const { object, file, line } = manifest;
  const { apiVersion, kind, metadata } = object;
  const { name = "" } = metadata;
  const resource = cluster.catalog.findKind(apiVersion, kind);
  const namespace = resource ? namespaceOf(resource, object, options) : (metadata.namespace ?? "");
  const known = { apiVersion, kind, namespace, name, file, line };
  const problem = resource ? problemOf(resource, object, options) : unknownKind(object);
  if (problem || !resource) {
    const refusal = problem ?? unknownKind(object);
    return { ...known, verdict: "refused", diff: "", refusal, warnings: [] };
  }
  const warnings: string[] = [];
  try {
    return await judgeKnown(cluster, resource, { known, object, warnings }, options);
  } catch (error) {
    if (!(error instanceof ApiError)) throw error;
    return {
      ...known,
      verdict: "refused",
      diff: "",
      refusal: refusalOf(withReason(error, resource, known, options)),
      warnings,
    };
  }
}

/**
 * kube-apiserver gives no reason to a user who may patch objects, but not create them. Adds the text that the
 * user would get for a create.
 */
function withReason(
  error: ApiError,
  { definition, version }: ServedResource,
  { namespace, name }: Pick<Judgement, "namespace" | "name">,
  options: ApplyOptions,
): ApiError {
  if (error.code !== 403 || !error.message.endsWith(" is forbidden: ")) return error;
  return forbiddenBy({
    user: userOf(options) ?? ADMINISTRATOR,
    verb: "create",
    isResourceRequest: true,
    path: "",
    apiGroup: definition.group,
    apiVersion: version.name,
    resource: definition.plural,
    subresource: "",
    namespace,
    name,
  });
}

interface Sent {
  readonly known: Pick<Judgement, "apiVersion" | "kind" | "namespace" | "name" | "file" | "line">;
  readonly object: KubeObject;
  /** Collects warnings of the server. */
  readonly warnings: string[];
}

/** Throws the ApiError of the server if it denies the object. */
async function judgeKnown(
  cluster: ImaginedCluster,
  resource: ServedResource,
  sent: Sent,
  options: ApplyOptions,
): Promise<Judgement> {
  const { known, warnings } = sent;
  const { apiVersion, kind, namespace, name } = known;
  const live = await cluster.find(resource, known);
  const after = await apply(cluster, pathOf(resource, known), sent, options);
  const before = live?.object;
  if (!options.isIsolated && before?.metadata.resourceVersion !== after.metadata.resourceVersion) {
    await cluster.settle(after);
  }
  const show = { isSecret: resource.definition.rules.isSecret ?? false, showManagedFields: options.showManagedFields };
  const [old, next] = shownPair(before, after, show);
  if (isDeepStrictEqual(old, next)) return { ...known, verdict: "unchanged", diff: "", object: next, warnings };
  const place = [apiVersion.replace("/", "."), kind, namespace, name].filter((part) => part !== "").join(".");
  const diff = unifiedDiff(printShown(old), printShown(next), [`live/${place}`, `merged/${place}`]);
  return { ...known, verdict: before ? "changed" : "created", diff, object: next, warnings };
}

async function apply(
  cluster: ImaginedCluster,
  path: string,
  { object, known, warnings }: Sent,
  options: ApplyOptions,
): Promise<KubeObject> {
  const { fieldManager, forceConflicts, validate, isIsolated } = options;
  const query = new URLSearchParams({
    fieldManager,
    fieldValidation: validate,
    ...(forceConflicts && { force: "true" }),
    ...(isIsolated && { dryRun: "All" }),
  });
  const body = withNamespace(object, known.namespace);
  const warn = (text: string) => void warnings.push(text);
  const reply = await cluster.ask({ method: "PATCH", path, query, headers: HEADERS, body, warn }, userOf(options));
  if (reply.type !== "object") throw new Error(`the response to ${path} contains no object`);
  return reply.view.object;
}

function userOf({ as }: ApplyOptions): UserInfo | undefined {
  if (!as) return undefined;
  const { user: name, groups, uid } = as;
  return { name, groups: impersonatedGroups(name, groups), ...(uid !== undefined && { uid }) };
}

function namespaceOf({ definition }: ServedResource, { metadata }: KubeObject, { namespace }: ApplyOptions): string {
  if (definition.scope === "Cluster") return "";
  return metadata.namespace || namespace || "default";
}

function withNamespace(object: KubeObject, namespace: string): KubeObject {
  return namespace === "" ? object : { ...object, metadata: { ...object.metadata, namespace } };
}

/** Problems for which kubectl does not send an object. */
function problemOf(
  { definition }: ServedResource,
  { metadata }: KubeObject,
  { namespace }: ApplyOptions,
): Refusal | undefined {
  const { name } = metadata;
  if (typeof name !== "string" || name === "") {
    return refusedHere("manifest", "metadata.name is required for apply");
  }
  if (name === "." || name === ".." || name.includes("/")) {
    return refusedHere("manifest", `invalid metadata.name: ${JSON.stringify(name)}`);
  }
  const own: unknown = metadata.namespace;
  if (own !== undefined && (typeof own !== "string" || own.includes("/"))) {
    return refusedHere("manifest", `invalid metadata.namespace: ${JSON.stringify(own)}`);
  }
  if (definition.scope === "Cluster" || namespace === undefined || !own || own === namespace) return undefined;
  return refusedHere(
    "manifest",
    `the namespace from the provided object "${own}" does not match the namespace "${namespace}". You must pass '--namespace=${own}' to perform this operation.`,
  );
}

function unknownKind({ apiVersion, kind }: KubeObject): Refusal {
  const hint = apiVersion.includes(".")
    ? "add its CustomResourceDefinition to --state, to --crds, or to the manifests before it"
    : "check the spelling";
  return refusedHere("kind", `no matches for kind "${kind}" in version "${apiVersion}": ${hint}`);
}
