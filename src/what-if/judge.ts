import { isDeepStrictEqual } from "node:util";
import { ApiError } from "../api/api-error.ts";
import type { KubeObject } from "../api/object.ts";
import { impersonatedGroups } from "../auth/impersonation/identity-checks.ts";
import { unifiedDiff } from "../lib/unified-diff.ts";
import type { ServedResource } from "../resources/model/catalog.ts";
import { pathOf } from "../resources/model/resource-path.ts";
import type { ImaginedCluster } from "./imagined-cluster.ts";
import type { ManifestObject } from "./manifests.ts";
import { type Refusal, refusalOf, refusedHere } from "./rules.ts";
import { printShown, shownPair } from "./shown-object.ts";

/** What would become of an object of a manifest. */
export interface Judgement {
  readonly apiVersion: string;
  readonly kind: string;
  /** Empty: its kind has none. */
  readonly namespace: string;
  readonly name: string;
  readonly file: string;
  readonly line: number;
  readonly verdict: "created" | "changed" | "unchanged" | "refused";
  /** As a unified diff of YAML; empty when nothing would change. */
  readonly diff: string;
  /** The object as it would be, without managed fields. Absent when it was refused. */
  readonly object?: KubeObject;
  readonly refusal?: Refusal;
  /** What the server warns of. */
  readonly warnings: readonly string[];
}

/** How manifests are applied; names are those of kubectl's flags. */
export interface ApplyOptions {
  readonly fieldManager: string;
  readonly forceConflicts: boolean;
  readonly validate: "Strict" | "Warn" | "Ignore";
  /** Where objects go that name no namespace, and the only one that others may name. Absent: default, and any. */
  readonly namespace?: string;
  /** Who applies them. Absent: an administrator. */
  readonly as?: { readonly user: string; readonly groups: readonly string[]; readonly uid?: string };
  /** Every object is judged by the state alone, as with `--dry-run=server`, and not by what was applied before. */
  readonly isIsolated: boolean;
  readonly showManagedFields: boolean;
}

/** How applying looks where nothing else is said. */
export const DEFAULT_APPLY: ApplyOptions = {
  fieldManager: "kubectl",
  forceConflicts: false,
  validate: "Strict",
  isIsolated: false,
  showManagedFields: false,
};

const HEADERS = { "content-type": "application/apply-patch+yaml", "user-agent": "kubectl" };

/** Applies an object in an imagined cluster and tells what became of it. */
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
    return { ...known, verdict: "refused", diff: "", refusal: refusalOf(error), warnings };
  }
}

interface Sent {
  readonly known: Pick<Judgement, "apiVersion" | "kind" | "namespace" | "name" | "file" | "line">;
  readonly object: KubeObject;
  /** Takes what the server warns of. */
  readonly warnings: string[];
}

/** Throws the ApiError with which the server refuses the object. */
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
  { fieldManager, forceConflicts, validate, isIsolated, as }: ApplyOptions,
): Promise<KubeObject> {
  const query = new URLSearchParams({
    fieldManager,
    fieldValidation: validate,
    ...(forceConflicts && { force: "true" }),
    ...(isIsolated && { dryRun: "All" }),
  });
  const user = as && {
    name: as.user,
    groups: impersonatedGroups(as.user, as.groups),
    ...(as.uid !== undefined && { uid: as.uid }),
  };
  const body = withNamespace(object, known.namespace);
  const warn = (text: string) => void warnings.push(text);
  const reply = await cluster.ask({ method: "PATCH", path, query, headers: HEADERS, body, warn }, user);
  if (reply.type !== "object") throw new Error(`${path} was answered without an object`);
  return reply.view.object;
}

function namespaceOf({ definition }: ServedResource, { metadata }: KubeObject, { namespace }: ApplyOptions): string {
  if (definition.scope === "Cluster") return "";
  return metadata.namespace || namespace || "default";
}

function withNamespace(object: KubeObject, namespace: string): KubeObject {
  return namespace === "" ? object : { ...object, metadata: { ...object.metadata, namespace } };
}

/** Why kubectl would not even send an object. */
function problemOf(
  { definition }: ServedResource,
  { metadata }: KubeObject,
  { namespace }: ApplyOptions,
): Refusal | undefined {
  const { name } = metadata;
  if (typeof name !== "string" || name === "") {
    return refusedHere("manifest", "the object has no metadata.name, without which it cannot be applied");
  }
  if (name === "." || name === ".." || name.includes("/")) {
    return refusedHere("manifest", `${JSON.stringify(name)} is no name of an object`);
  }
  const own: unknown = metadata.namespace;
  if (own !== undefined && (typeof own !== "string" || own.includes("/"))) {
    return refusedHere("manifest", `${JSON.stringify(own)} is no name of a namespace`);
  }
  if (definition.scope === "Cluster" || namespace === undefined || !own || own === namespace) return undefined;
  return refusedHere(
    "manifest",
    `the namespace from the provided object "${own}" does not match the namespace "${namespace}". You must pass '--namespace=${own}' to perform this operation.`,
  );
}

function unknownKind({ apiVersion, kind }: KubeObject): Refusal {
  const hint = apiVersion.includes(".")
    ? "its CustomResourceDefinition has to be in the state, in --crds, or before it in the manifests"
    : "is it misspelt?";
  return refusedHere("kind", `no matches for kind "${kind}" in version "${apiVersion}": ${hint}`);
}
