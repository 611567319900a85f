import { type ApiError, forbidden, notFound } from "../../../base/api/api-error.ts";
import type { ObjectAccess } from "../../../resources/model/definition.ts";
import { isInGroup, refusal, targetOf, targets } from "../matches.ts";
import type { AdmissionPlugin, AdmissionRequest } from "../plugin.ts";

const NAMESPACES = { group: "", resource: "namespaces" };
/** Upstream: the immortal namespaces. */
const PROTECTED: readonly string[] = ["default", "kube-system", "kube-public"];

/**
 * NamespaceLifecycle: rejects new objects in a Namespace that does not exist or is terminating, and the deletion of
 * default, kube-system and kube-public.
 */
export function namespaceLifecycle(access: ObjectAccess): AdmissionPlugin {
  return {
    name: "NamespaceLifecycle",
    handles: ({ operation }) => operation === "CREATE" || operation === "DELETE",
    async mutate(request) {
      const { operation, namespace, name } = request;
      if (operation === "DELETE") {
        if (!targets(request, "", "namespaces") || !PROTECTED.includes(name)) return;
        throw forbidden(targetOf(request), name, "this namespace may not be deleted");
      }
      if (namespace === "" || isAccessReview(request)) return;
      const found = await access.find("", "namespaces", { namespace: "", name: namespace });
      if (!found) throw notFound(NAMESPACES, namespace);
      if (found.metadata.deletionTimestamp !== undefined) throw terminating(request);
    },
  };
}

/** Whether this is a LocalSubjectAccessReview. An access review must not reveal whether a Namespace exists. */
function isAccessReview({ resource: { definition } }: AdmissionRequest): boolean {
  return definition.plural === "localsubjectaccessreviews" && isInGroup(definition, "authorization.k8s.io");
}

function terminating(request: AdmissionRequest): ApiError {
  const { namespace } = request;
  const error = refusal(
    request,
    `unable to create new content in namespace ${namespace} because it is being terminated`,
  );
  const cause = {
    reason: "NamespaceTerminating",
    message: `namespace ${namespace} is being terminated`,
    field: "metadata.namespace",
  };
  error.status.details = { ...error.status.details, causes: [cause] };
  return error;
}
