import { notFound } from "../../../base/api/api-error.ts";
import { isObject, type JsonObject, type KubeObject, type ObjectMeta } from "../../../base/api/object.ts";
import type { ObjectAccess } from "../../../resources/model/definition.ts";
import type { AuthorizerAnswers } from "../expressions/authorizer-answers.ts";
import { namespaceOf as attributeNamespace, describeRequest } from "../expressions/request-variable.ts";
import type { MatchedResource } from "../matching/match-index.ts";
import { isNamespaces } from "../matching/rules.ts";
import type { AdmissionRequest } from "../plugin.ts";
import type { VersionedObjects } from "../versioned.ts";
import { lazyJson, type PolicyInputs } from "./evaluation.ts";

/** What a policy is evaluated with. */
export interface PolicySubject {
  readonly request: AdmissionRequest;
  readonly matched: MatchedResource;
  /** In the matched version. */
  readonly objects: VersionedObjects;
  readonly namespace: KubeObject | undefined;
  readonly params: KubeObject | undefined;
  readonly answers: AuthorizerAnswers;
}

/** The values of the variables of a policy's expressions. */
export function policyInputs({ request, matched, objects, namespace, params, answers }: PolicySubject): PolicyInputs {
  const { definition, version } = request.resource;
  const own = { ...matched, group: definition.group, version: version.name, resource: definition.plural };
  return {
    object: lazyJson(() => objects.object),
    oldObject: lazyJson(() => objects.previous),
    params: lazyJson(() => params),
    request: lazyJson(() => requestOf(request, matched)),
    ownRequest: lazyJson(() => requestOf(request, own)),
    namespaceObject: lazyJson(() => namespace && shownNamespace(namespace)),
    authorizer: {
      check: answers.check,
      requestResource: {
        group: definition.group,
        resource: definition.plural,
        subresource: request.subresource,
        namespace: attributeNamespace(request),
        name: request.name,
      },
    },
  };
}

function requestOf(request: AdmissionRequest, matched: MatchedResource): JsonObject {
  return { ...describeRequest(request, matched), options: request.options() ?? null };
}

const SHOWN: readonly (keyof ObjectMeta)[] = [
  "name",
  "generateName",
  "namespace",
  "uid",
  "resourceVersion",
  "generation",
  "creationTimestamp",
  "deletionTimestamp",
  "deletionGracePeriodSeconds",
  "labels",
  "annotations",
  "finalizers",
];

/** Compat: `CreateNamespaceObject` leaves out kind, apiVersion, ownerReferences and managedFields. */
function shownNamespace({ metadata, spec, status }: KubeObject): JsonObject {
  const members = SHOWN.flatMap((name) => (metadata[name] === undefined ? [] : [[name, metadata[name]] as const]));
  return {
    metadata: Object.fromEntries(members) as JsonObject,
    spec: isObject(spec) ? spec : {},
    status: isObject(status) ? status : {},
  };
}

/** The Namespace of the request. Undefined for cluster-scoped requests. Throws NotFound. */
export async function namespaceOf(
  { resource: { definition }, body, namespace }: AdmissionRequest,
  access: ObjectAccess,
): Promise<KubeObject | undefined> {
  const isNamespace = isNamespaces({ group: definition.group, resource: definition.plural });
  if (namespace === "" || (isNamespace && body.definition === definition)) return undefined;
  const key = { namespace: "", name: namespace };
  const found =
    (await access.find("", "namespaces", key, "any")) ?? (await access.find("", "namespaces", key, "newest"));
  if (!found) throw notFound({ group: "", resource: "namespaces" }, namespace);
  return found;
}
