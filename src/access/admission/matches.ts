import { type ApiError, forbidden, type ResourceName } from "../../base/api/api-error.ts";
import type { ResourceDefinition } from "../../resources/model/definition.ts";
import type { AdmissionRequest } from "./plugin.ts";

const DOMAIN = "k8s.io";
const BUILT_IN_SCHEMA = "io.k8s.";

/**
 * Whether a kind belongs to a built-in group, given by its default name. With another API domain, built-in groups have
 * other names. Custom kinds in a group with a similar name do not count.
 */
export function isInGroup({ group, versions }: ResourceDefinition, usual: string): boolean {
  if (group === usual) return true;
  if (!usual.endsWith(`.${DOMAIN}`) || !versions[0]?.schemaName.startsWith(BUILT_IN_SCHEMA)) return false;
  return group.startsWith(usual.slice(0, -DOMAIN.length));
}

/** Whether a request is for this resource, and for exactly this subresource. Default: the object itself. */
export function targets(request: AdmissionRequest, group: string, plural: string, subresource = ""): boolean {
  const { definition } = request.resource;
  return definition.plural === plural && request.subresource === subresource && isInGroup(definition, group);
}

/** The resource name for error messages. */
export function targetOf({ resource }: Pick<AdmissionRequest, "resource">): ResourceName {
  return { group: resource.definition.group, resource: resource.definition.plural };
}

/** The object name for error messages: its name or generateName, else "Unknown". */
export function nameIn({ name, object }: AdmissionRequest): string {
  return name || object?.metadata.generateName || "Unknown";
}

/** 403 Forbidden: the error with which a plugin rejects a request. Upstream: `admission.NewForbidden`. */
export function refusal(request: AdmissionRequest, text: string): ApiError {
  return forbidden(targetOf(request), nameIn(request), text);
}
