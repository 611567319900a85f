import type { KubeObject } from "../../../base/api/object.ts";
import type { ResourceDefinition } from "../../../resources/model/definition.ts";
import { AGE, column, NAME, optionalText, printFirst, readObjects, readText } from "../cells.ts";
import { defineKinds, STATUS } from "../row.ts";
import { storageVersionHooks } from "./storage-version.ts";

function printVersions(storageVersion: KubeObject): string {
  const versions = readObjects(storageVersion, ".status.storageVersions");
  return printFirst(
    versions.map((version) => `${readText(version, ".apiServerID")}=${readText(version, ".encodingVersion")}`),
    3,
  );
}

/** StorageVersion of internal.apiserver.k8s.io. */
export const internalApiserverKinds: ResourceDefinition[] = defineKinds(
  { group: "internal.apiserver.k8s.io", schemaPackage: "io.k8s.api.apiserverinternal" },
  [
    {
      kind: "StorageVersion",
      plural: "storageversions",
      scope: "Cluster",
      versions: ["v1alpha1"],
      subresources: { status: STATUS },
      columns: [
        NAME,
        column("CommonEncodingVersion", "string", optionalText(".status.commonEncodingVersion", "<unset>")),
        column("StorageVersions", "string", printVersions),
        AGE,
      ],
      rules: { nameRule: "own", requiresResourceVersion: true, statusKeepsMetadata: true },
      hooks: storageVersionHooks,
    },
  ],
);
