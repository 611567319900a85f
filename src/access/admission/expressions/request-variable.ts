import { apiVersionOf, type JsonObject } from "../../../base/api/object.ts";
import type { UserInfo } from "../../../base/api/user-info.ts";
import type { MatchedResource } from "../matching/match-index.ts";
import { isNamespaces } from "../matching/rules.ts";
import type { AdmissionRequest } from "../plugin.ts";

/**
 * An AdmissionRequest of admission.k8s.io without uid and objects. Webhooks receive it, and expressions see it as
 * `request`. Members are omitted like with Go's omitempty.
 */
export function describeRequest(
  request: AdmissionRequest,
  { group, version, resource, kind }: MatchedResource,
): JsonObject {
  const { operation, dryRun, subresource, name, user } = request;
  const { definition, version: requested } = request.resource;
  const requestResource = { group: definition.group, version: requested.name, resource: definition.plural };
  const namespace = namespaceOf(request);
  return {
    kind: { ...kind },
    resource: { group, version, resource },
    ...(subresource !== "" && { subResource: subresource }),
    requestKind: requestKind(request),
    requestResource,
    ...(subresource !== "" && { requestSubResource: subresource }),
    ...(name !== "" && { name }),
    ...(namespace !== "" && { namespace }),
    operation,
    userInfo: userOf(user),
    dryRun,
  };
}

/**
 * The namespace for webhooks and expressions. Compat: `RequestInfo` of a Namespace has its own name as the namespace.
 */
export function namespaceOf({ resource: { definition }, name, namespace, isNameless }: AdmissionRequest): string {
  const { group, plural } = definition;
  return isNamespaces({ group, resource: plural }) ? (isNameless ? "" : name) : namespace;
}

/** The kind of the request body. */
function requestKind({ body: { definition, version } }: AdmissionRequest): JsonObject {
  return { group: definition.group, version: version.name, kind: definition.kind };
}

function userOf({ name, uid = "", groups, extra = {} }: UserInfo): JsonObject {
  const members = Object.entries(extra);
  return {
    ...(name !== "" && { username: name }),
    ...(uid !== "" && { uid }),
    ...(groups.length > 0 && { groups: [...groups] }),
    ...(members.length > 0 && { extra: Object.fromEntries(members.map(([key, values]) => [key, [...values]])) }),
  };
}

/** The apiVersion of the matched kind. */
export function matchedApiVersion({ kind }: MatchedResource): string {
  return apiVersionOf(kind.group, kind.version);
}
