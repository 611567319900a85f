import type { AdmissionRequest } from "../../access/admission/plugin.ts";
import type { Call } from "../../base/api/call.ts";
import type { JsonObject, KubeObject } from "../../base/api/object.ts";
import type { DeleteOptions } from "../../base/api/options.ts";
import type { ServedResource } from "../../resources/model/catalog.ts";
import type { Target } from "./target.ts";

/** The parts of an admission request that the verb provides. The rest comes from the call and its target. */
interface Write extends Pick<AdmissionRequest, "operation" | "dryRun" | "holdsEmpties" | "isNameless"> {
  readonly object?: KubeObject | undefined;
  readonly previous?: KubeObject | undefined;
  /** The resource of the objects, if it differs from that of the target. */
  readonly body?: ServedResource;
  /** The options of a DELETE. */
  readonly deletion?: DeleteOptions;
}

/** Creates the admission request for a write. */
export function admissionRequest(call: Call, target: Target, write: Write): AdmissionRequest {
  const { resource, subresource, namespace, parent = resource } = target;
  const { audit } = call;
  const { operation, dryRun, object, previous, holdsEmpties, isNameless, body = resource } = write;
  return {
    operation,
    dryRun,
    object,
    previous,
    holdsEmpties,
    isNameless,
    resource: parent,
    subresource,
    body,
    namespace,
    name: target.name !== "" ? target.name : (object?.metadata.name ?? ""),
    user: call.user,
    options: () => optionsOf(call, target, write),
    warn: (text) => call.warnings.push(text),
    annotate:
      audit &&
      ((key, value, showsObject = false) => {
        if (!showsObject || audit.keeps.requests) audit.annotate(key, value);
      }),
    trace: call.trace,
    signal: call.signal,
    deadlineMs: call.deadlineMs,
  };
}

/** Compat: a patch passes UpdateOptions or CreateOptions (`patchToUpdateOptions`), depending on its effect. */
function optionsOf({ request: { query } }: Call, target: Target, write: Write): JsonObject | undefined {
  const { operation, dryRun, deletion } = write;
  const all = dryRun ? { dryRun: ["All"] } : {};
  const apiVersion = "meta.k8s.io/v1";
  if (operation === "CONNECT") return undefined;
  if (operation === "DELETE") {
    return { kind: "DeleteOptions", apiVersion, ...deletionOf(target, write.previous, deletion), ...all };
  }
  const kind = operation === "CREATE" ? "CreateOptions" : "UpdateOptions";
  return { kind, apiVersion, ...all, ...given(query, "fieldManager"), ...given(query, "fieldValidation") };
}

function given(query: URLSearchParams, name: string): JsonObject {
  const value = query.get(name) ?? "";
  return value === "" ? {} : { [name]: value };
}

/**
 * Compat: `CheckGracefulDelete` has set gracePeriodSeconds before admission sees the options. `DeleteCollection` gives
 * every object its own copy of the options. Kinds that a DELETE only marks, such as namespaces, set
 * `preconditions.uid`.
 */
function deletionOf(
  { resource, name }: Target,
  previous: KubeObject | undefined,
  { gracePeriodSeconds: requested, preconditions, orphanDependents, propagationPolicy }: DeleteOptions = {
    dryRun: false,
  },
): JsonObject {
  const { gracePeriodSeconds, markDeleted, beginDeletion } = resource.definition.hooks ?? {};
  const isMarked = name !== "" && (markDeleted !== undefined || beginDeletion !== undefined);
  const ownUid = isMarked ? previous?.metadata.uid : undefined;
  const options: JsonObject = {};
  const seconds = previous && gracePeriodSeconds && name !== "" ? gracePeriodSeconds(previous, requested) : requested;
  if (seconds !== undefined) options.gracePeriodSeconds = seconds;
  if (preconditions || ownUid !== undefined) {
    const { uid = ownUid, resourceVersion } = preconditions ?? {};
    options.preconditions = {
      ...(uid !== undefined && { uid }),
      ...(resourceVersion !== undefined && { resourceVersion }),
    };
  }
  if (orphanDependents !== undefined) options.orphanDependents = orphanDependents;
  if (propagationPolicy !== undefined) options.propagationPolicy = propagationPolicy;
  return options;
}
