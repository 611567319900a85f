import type { AdmissionRequest } from "./plugin.ts";

/** Whether a request is about this resource, and about the object itself rather than a subresource. */
export function isAbout(request: AdmissionRequest, group: string, plural: string, subresource = ""): boolean {
  const { definition } = request.resource;
  return definition.group === group && definition.plural === plural && request.subresource === subresource;
}

/** The resource that a refusal names. */
export function targetOf({ resource }: AdmissionRequest): { group: string; resource: string } {
  return { group: resource.definition.group, resource: resource.definition.plural };
}

/** The name that a refusal gives the object: its own, or what its name will begin with. */
export function nameIn({ name, object }: AdmissionRequest): string {
  return name || object?.metadata.generateName || "Unknown";
}
