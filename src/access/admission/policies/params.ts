import type { KubeObject } from "../../../base/api/object.ts";
import { printLabelSelector, readSelectorObject } from "../../../base/api/selector-object.ts";
import type { ParamKind, ParamRef } from "../../../kinds/types/admission-registration.ts";
import type { ServedResource } from "../../../resources/model/catalog.ts";
import type { Pause } from "../../../resources/pace.ts";
import { listObjects } from "../../../resources/read/object-list.ts";
import { parseSelection } from "../../../resources/read/selection.ts";
import type { Resources } from "../../../resources/resources.ts";

/** A policy or binding is misconfigured. Upstream: `addConfigError`. */
export class ConfigurationError extends Error {}

/** The params of a policy without paramKind: expressions see null. */
export const NO_PARAMS: readonly undefined[] = [undefined];

/** The resource of a paramKind. Throws ConfigurationError. */
export function paramResource(resources: Resources, { apiVersion = "", kind = "" }: ParamKind): ServedResource {
  const found = resources.catalog.findKind(apiVersion, kind);
  if (found?.definition.kind === kind) return found;
  const [group, version] = apiVersion.includes("/") ? apiVersion.split("/") : ["", apiVersion];
  throw new ConfigurationError(`failed to find resource referenced by paramKind: '${group}/${version}, Kind=${kind}'`);
}

/**
 * The objects that a paramRef selects; the policy is evaluated once for each. They are read from memory, with pauses for
 * other requests. Throws ConfigurationError. Upstream: `CollectParams`.
 */
export async function collectParams(
  resources: Resources,
  resource: ServedResource,
  paramRef: ParamRef,
  requestNamespace: string,
  pause: Pause,
): Promise<readonly KubeObject[]> {
  const namespace = namespaceOf(resource, paramRef, requestNamespace);
  const found = await findParams(resources, resource, paramRef, namespace, pause);
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
  pause: Pause,
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
  const params: KubeObject[] = [];
  for (const { object } of items) {
    params.push(object);
    await pause();
  }
  return params;
}
