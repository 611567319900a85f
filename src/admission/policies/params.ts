import type { KubeObject } from "../../api/object.ts";
import { printLabelSelector, readSelectorObject } from "../../api/selector-object.ts";
import type { ServedResource } from "../../resources/model/catalog.ts";
import { listObjects } from "../../resources/read/object-list.ts";
import { parseSelection } from "../../resources/read/selection.ts";
import type { Resources } from "../../resources/resources.ts";
import type { ParamKind, ParamRef } from "../../types/admission-registration.ts";

/** Why a policy or binding cannot be used as it is. Upstream: `addConfigError`. */
export class ConfigurationError extends Error {}

/** Without params, an expression sees null. */
export const NO_PARAMS: readonly undefined[] = [undefined];

/** The resource that a paramKind names. Throws ConfigurationError. */
export function paramResource(resources: Resources, { apiVersion = "", kind = "" }: ParamKind): ServedResource {
  const found = resources.catalog.findKind(apiVersion, kind);
  if (found?.definition.kind === kind) return found;
  const [group, version] = apiVersion.includes("/") ? apiVersion.split("/") : ["", apiVersion];
  throw new ConfigurationError(`failed to find resource referenced by paramKind: '${group}/${version}, Kind=${kind}'`);
}

/**
 * The objects that a policy is evaluated with, one after the other, as a paramRef names them. They come from what the
 * server holds in memory. Throws ConfigurationError. Upstream: `CollectParams`.
 */
export async function collectParams(
  resources: Resources,
  resource: ServedResource,
  paramRef: ParamRef,
  requestNamespace: string,
): Promise<readonly KubeObject[]> {
  const found = await findParams(resources, resource, paramRef, namespaceOf(resource, paramRef, requestNamespace));
  if (found.length === 0 && paramRef.parameterNotFoundAction === "Deny") {
    throw new ConfigurationError("no params found for policy binding with `Deny` parameterNotFoundAction");
  }
  return found;
}

function namespaceOf({ definition }: ServedResource, { namespace = "" }: ParamRef, requested: string): string {
  if (definition.scope === "Cluster") {
    if (namespace === "") return "";
    throw new ConfigurationError("paramRef.namespace must not be provided for a cluster-scoped `paramKind`");
  }
  if (namespace !== "" || requested !== "") return namespace || requested;
  throw new ConfigurationError(
    "cannot use namespaced paramRef in policy binding that matches cluster-scoped resources",
  );
}

async function findParams(
  resources: Resources,
  resource: ServedResource,
  { name = "", selector }: ParamRef,
  namespace: string,
): Promise<readonly KubeObject[]> {
  if (name !== "") {
    const param = await resources.peek(resource, { namespace, name });
    return param ? [param] : [];
  }
  const labelSelector = printLabelSelector(readSelectorObject(selector) ?? []);
  const { items } = await listObjects(resources, resource, {
    selection: parseSelection(resource, { namespace, labelSelector, fieldSelector: "", shardSelector: "" }),
    limit: 0,
    continueToken: "",
    resourceVersion: 0,
    resourceVersionMatch: "",
  });
  return Array.from(items, ({ object }) => object);
}
