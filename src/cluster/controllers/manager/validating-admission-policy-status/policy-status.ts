import type { JsonObject, KubeObject } from "../../../../base/api/object.ts";
import { WorkQueue } from "../../../../base/util/work-queue.ts";
import type { PolicySpec } from "../../../../kinds/types/admission-registration.ts";
import { storedResource } from "../../../../resources/model/stored-resource.ts";
import { StoredIndex } from "../../../../resources/read/stored-index.ts";
import { readObject } from "../../../../resources/stored-kinds.ts";
import { type Controller, type ControllerContext, unlessCode } from "../../shared/controller.ts";
import { checkTypes } from "./type-checker.ts";

const NAME = "validatingadmissionpolicy-status-controller";
/** Compat: `ControllerName` of upstream's controller. */
const MANAGER = "validatingadmissionpolicy-status";
const GROUP = "admissionregistration.k8s.io";

/**
 * validatingadmissionpolicy-status-controller: type-checks the expressions of every ValidatingAdmissionPolicy against
 * the kinds that its rules name, and writes the warnings to its status.
 */
export function policyStatus({ resources, client, report }: ControllerContext): Controller {
  const { store, keys, codec, catalog, clock } = resources;
  const resource = storedResource(catalog, GROUP, "validatingadmissionpolicies");
  const { definition, apiVersion } = resource;

  const check = async ({ metadata, spec }: KubeObject): Promise<void> => {
    const expressionWarnings = checkTypes(catalog, (spec as PolicySpec | undefined) ?? {});
    const status: JsonObject = {
      observedGeneration: metadata.generation ?? 0,
      typeChecking:
        expressionWarnings.length > 0 ? { expressionWarnings: expressionWarnings.map((one) => ({ ...one })) } : {},
    };
    const applied: KubeObject = { kind: definition.kind, apiVersion, metadata: { name: metadata.name ?? "" }, status };
    await client.apply(resource, applied, { fieldManager: MANAGER, subresource: "status" }).catch(unlessCode(404));
  };

  return {
    name: NAME,
    async run(signal) {
      const queue = new WorkQueue<string>({
        clock,
        concurrency: 1,
        work: async (key) => {
          const policy = index.items.get(key);
          if (policy && isBehind(policy)) await check(policy);
        },
        onError: (error) => {
          if (!signal.aborted) report(NAME, error);
        },
      });
      const index = new StoredIndex<KubeObject>({
        store,
        prefix: keys.prefix(definition),
        read: (entry) => readObject(codec, entry),
        changed: () => {
          for (const [key, policy] of index.items) if (isBehind(policy)) queue.add(key);
        },
      });
      try {
        await index.run(signal);
      } finally {
        await queue.close();
      }
    },
  };
}

function isBehind({ metadata, status }: KubeObject): boolean {
  const { observedGeneration = 0 } = (status as { observedGeneration?: number } | undefined) ?? {};
  return (metadata.generation ?? 0) > observedGeneration;
}
