import type { ObjectAccess, ResourceDefinition } from "../../resources/model/definition.ts";
import { isInGroup } from "../matches.ts";
import type { AdmissionPlugin, AdmissionRequest } from "../plugin.ts";
import { measure } from "./resource-quota/check.ts";
import { deviceClaimEvaluator } from "./resource-quota/device-claims.ts";
import { countName, type Evaluator, objectCounts } from "./resource-quota/evaluator.ts";
import { QuotaLedger } from "./resource-quota/ledger.ts";
import { podEvaluator } from "./resource-quota/pods.ts";
import { serviceEvaluator } from "./resource-quota/services.ts";
import { volumeClaimEvaluator } from "./resource-quota/volume-claims.ts";

/** Resources that ResourceQuota ignores: not stored, or never limited. */
const IGNORED: readonly (readonly [group: string, plural: string])[] = [
  ["", "bindings"],
  ["", "componentstatuses"],
  ["authentication.k8s.io", "tokenreviews"],
  ["authentication.k8s.io", "selfsubjectreviews"],
  ["authorization.k8s.io", "subjectaccessreviews"],
  ["authorization.k8s.io", "selfsubjectaccessreviews"],
  ["authorization.k8s.io", "localsubjectaccessreviews"],
  ["authorization.k8s.io", "selfsubjectrulesreviews"],
  ["", "events"],
  ["events.k8s.io", "events"],
];

/** Kinds that a ResourceQuota can also count by their bare name, without count/. */
const ALIASES: readonly string[] = ["configmaps", "resourcequotas", "replicationcontrollers", "secrets"];

/**
 * ResourceQuota: a Namespace uses no more than `hard`. What a write uses is in `status.used` before it is stored; a
 * write that fails after that stays counted until the quota controller counts anew, as with kube-apiserver.
 */
export function resourceQuota(access: ObjectAccess): AdmissionPlugin {
  const ledger = new QuotaLedger(access);
  const evaluators = new WeakMap<ResourceDefinition, Evaluator>();
  const evaluatorOf = (definition: ResourceDefinition): Evaluator => {
    const known = evaluators.get(definition);
    if (known) return known;
    const made = makeEvaluator(definition, access);
    evaluators.set(definition, made);
    return made;
  };
  return {
    name: "ResourceQuota",
    handles: (request) => isCounted(request) && evaluatorOf(request.resource.definition).handles(request),
    async validate(request) {
      const { object, namespace, resource } = request;
      // Most namespaces have none, and nothing more is to be done.
      if (!object || (await access.list("", "resourcequotas", namespace, "any")).length === 0) return;
      const { definition } = resource;
      const evaluator = isDeviceClaim(definition)
        ? await deviceClaimEvaluator(access, definition.group, object)
        : evaluatorOf(definition);
      await ledger.charge(measure(request, object, evaluator));
    },
  };
}

function isCounted({ operation, namespace, resource }: AdmissionRequest): boolean {
  if (namespace === "" || (operation !== "CREATE" && operation !== "UPDATE")) return false;
  const { definition } = resource;
  return !IGNORED.some(([group, plural]) => definition.plural === plural && isInGroup(definition, group));
}

const isDeviceClaim = (definition: ResourceDefinition) =>
  definition.plural === "resourceclaims" && isInGroup(definition, "resource.k8s.io");

function makeEvaluator(definition: ResourceDefinition, access: ObjectAccess): Evaluator {
  const { group, plural } = definition;
  const count = countName(group, plural);
  if (isDeviceClaim(definition)) return { ...objectCounts(count), handles: ({ subresource }) => subresource === "" };
  if (group !== "") return objectCounts(count);
  if (plural === "pods") return podEvaluator(() => access.clock.now());
  if (plural === "services") return serviceEvaluator;
  if (plural === "persistentvolumeclaims") return volumeClaimEvaluator;
  return ALIASES.includes(plural) ? objectCounts(count, plural) : objectCounts(count);
}
