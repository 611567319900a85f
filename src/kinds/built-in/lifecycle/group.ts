import type { ResourceDefinition, ResourceRules } from "../../../resources/model/definition.ts";
import { defineKinds, STATUS } from "../row.ts";
import { evictionHooks, evictionRequestHooks } from "./eviction.ts";
import { evictionColumns, evictionRequestColumns } from "./eviction-cells.ts";

const rules: ResourceRules = { generation: "counted", requiresResourceVersion: true, statusKeepsMetadata: true };

/** The kinds of lifecycle.k8s.io: EvictionRequest and Eviction. */
export const lifecycleKinds: ResourceDefinition[] = defineKinds(
  { group: "lifecycle.k8s.io", schemaPackage: "io.k8s.api.lifecycle" },
  [
    {
      kind: "EvictionRequest",
      plural: "evictionrequests",
      versions: ["v1alpha1"],
      subresources: { status: STATUS },
      columns: evictionRequestColumns,
      rules,
      hooks: evictionRequestHooks,
    },
    {
      kind: "Eviction",
      plural: "evictions",
      versions: ["v1alpha1"],
      subresources: { status: STATUS },
      columns: evictionColumns,
      rules,
      hooks: evictionHooks,
    },
  ],
);
