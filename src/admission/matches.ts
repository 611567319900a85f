import { type ApiError, forbidden, type ResourceName } from "../api/api-error.ts";
import type { ResourceDefinition } from "../resources/model/definition.ts";
import type { AdmissionRequest } from "./plugin.ts";

const DOMAIN = "k8s.io";
const BUILT_IN_SCHEMA = "io.k8s.";

/**
 * Whether a kind belongs to a built-in group, which is given by its usual name. With another domain built-in groups have
 * other names; custom kinds of groups that only look alike do not count.
 */
export function isInGroup({ group, versions }: ResourceDefinition, usual: string): boolean {
  if (group === usual) return true;
  if (!usual.endsWith(`.${DOMAIN}`) || !versions[0]?.schemaName.startsWith(BUILT_IN_SCHEMA)) return false;
  return group.startsWith(usual.slice(0, -DOMAIN.length));
}

/** Whether a request is about this resource, and about the object itself rather than a subresource. */
export function targets(request: AdmissionRequest, group: string, plural: string, subresource = ""): boolean {
  const { definition } = request.resource;
  return definition.plural === plural && request.subresource === subresource && isInGroup(definition, group);
}

/** The resource that a refusal names. */
export function targetOf({ resource }: Pick<AdmissionRequest, "resource">): ResourceName {
  return { group: resource.definition.group, resource: resource.definition.plural };
}

/** The name that a refusal gives the object: its own, or what its name will begin with. */
export function nameIn({ name, object }: AdmissionRequest): string {
  return name || object?.metadata.generateName || "Unknown";
}

/** 403 Forbidden: what a plugin refuses a request with. Upstream: `admission.NewForbidden`. */
export function refusal(request: AdmissionRequest, text: string): ApiError {
  return forbidden(targetOf(request), nameIn(request), text);
}
