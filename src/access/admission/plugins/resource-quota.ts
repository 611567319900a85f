import type { ObjectAccess } from "../../../resources/model/definition.ts";
import type { AdmissionPlugin, AdmissionRequest } from "../plugin.ts";
import { measure } from "./resource-quota/check.ts";
import { isCounted, QuotaEvaluators } from "./resource-quota/evaluators.ts";
import { QuotaLedger } from "./resource-quota/ledger.ts";

/**
 * ResourceQuota: enforces `hard` of the ResourceQuotas of a Namespace. The usage of a write is added to `status.used`
 * before it is stored. If the write fails later, it stays counted until the quota controller recounts, like in
 * kube-apiserver.
 */
export function resourceQuota(access: ObjectAccess): AdmissionPlugin {
  const ledger = new QuotaLedger(access);
  const evaluators = new QuotaEvaluators(access);
  return {
    name: "ResourceQuota",
    handles: (request) => mayCount(request) && evaluators.of(request.resource.definition).handles(request),
    async validate(request) {
      const { object, namespace, resource } = request;
      // Fast path: most namespaces have no quotas.
      if (!object || (await access.list("", "resourcequotas", namespace, "any")).length === 0) return;
      await ledger.charge(measure(request, object, await evaluators.for(resource.definition, object)));
    },
  };
}

function mayCount({ operation, namespace, resource }: AdmissionRequest): boolean {
  if (namespace === "" || (operation !== "CREATE" && operation !== "UPDATE")) return false;
  return isCounted(resource.definition);
}
