import type { KubeObject } from "../../../base/api/object.ts";
import type { ResourceDefinition } from "../../../resources/model/definition.ts";
import { CREATED_AT, column, isConditionTrue, NAME, readObjects, readText, readTexts, text, wide } from "../cells.ts";
import { defineKinds, STATUS } from "../row.ts";
import { definitionHooks } from "./custom-resource-definition.ts";

function printVersions(definition: KubeObject): string {
  return readObjects(definition, ".spec.versions")
    .filter((version) => version.served === true)
    .map((version) => `${readText(version, ".name")}${version.storage === true ? "(storage)" : ""}`)
    .sort()
    .join(",");
}

/** CustomResourceDefinition of apiextensions.k8s.io: defines further kinds. */
export const apiextensionsKinds: ResourceDefinition[] = defineKinds(
  { group: "apiextensions.k8s.io", schemaPackage: "io.k8s.apiextensions-apiserver.pkg.apis.apiextensions" },
  [
    {
      kind: "CustomResourceDefinition",
      plural: "customresourcedefinitions",
      shortNames: ["crd", "crds"],
      categories: ["api-extensions"],
      scope: "Cluster",
      versions: ["v1"],
      // Compat: kube-apiserver writes CustomResourceDefinitions to etcd as v1beta1. Clients only see that in
      // discovery's `storageVersionHash`.
      storage: { prefix: "apiextensions.k8s.io/customresourcedefinitions", hashVersion: "v1beta1" },
      subresources: { status: STATUS },
      columns: [
        NAME,
        column("Scope", "string", text(".spec.scope")),
        column("Versions", "string", printVersions),
        CREATED_AT,
        wide("Group", "string", text(".spec.group")),
        wide("Kind", "string", text(".spec.names.kind")),
        wide("ShortNames", "string", (definition) => readTexts(definition, ".spec.names.shortNames").join(",")),
        wide("Established", "boolean", (definition) => isConditionTrue(definition, "Established")),
      ],
      rules: { nameRule: "own", generation: "counted", requiresResourceVersion: true, freeFinalizers: true },
      hooks: definitionHooks,
    },
  ],
);
