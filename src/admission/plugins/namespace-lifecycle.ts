import { type ApiError, forbidden, notFound } from "../../api/api-error.ts";
import type { Resources } from "../../resources/resources.ts";
import type { AdmissionPlugin, AdmissionRequest } from "../plugin.ts";

const NAMESPACES = { group: "", resource: "namespaces" };
/** These hold what the cluster itself needs. */
const PROTECTED: readonly string[] = ["default", "kube-system", "kube-public"];

/** Nothing is created in a namespace that does not exist or is going away; the namespaces of the system stay. */
export function namespaceLifecycle(resources: Resources): AdmissionPlugin {
  return {
    name: "NamespaceLifecycle",
    handles: () => true,
    async mutate(request) {
      const { definition } = request.resource;
      if (definition.group === "" && definition.plural === "namespaces") {
        if (request.operation === "DELETE" && PROTECTED.includes(request.name)) {
          throw forbidden(NAMESPACES, request.name, "this namespace may not be deleted");
        }
        return;
      }
      if (definition.scope !== "Namespaced" || request.operation === "DELETE" || !definition.storage) return;
      await checkNamespace(resources, request);
    },
  };
}

async function checkNamespace(resources: Resources, request: AdmissionRequest): Promise<void> {
  const { namespace } = request;
  const kind = resources.catalog.find("", "v1", "namespaces");
  const found = kind && (await resources.peek(kind, { namespace: "", name: namespace }));
  if (!found) throw notFound(NAMESPACES, namespace);
  if (request.operation !== "CREATE" || found.metadata.deletionTimestamp === undefined) return;
  throw terminating(request);
}

function terminating({ resource, name, namespace }: AdmissionRequest): ApiError {
  const { group, plural } = resource.definition;
  const text = `unable to create new content in namespace ${namespace} because it is being terminated`;
  const error = forbidden({ group, resource: plural }, name, text);
  error.status.details = {
    ...error.status.details,
    causes: [
      {
        reason: "NamespaceTerminating",
        message: `namespace ${namespace} is being terminated`,
        field: "metadata.namespace",
      },
    ],
  };
  return error;
}
