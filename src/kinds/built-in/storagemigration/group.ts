import type { KubeObject } from "../../../base/api/object.ts";
import type { ResourceDefinition } from "../../../resources/model/definition.ts";
import { column, readObjects, readText, text } from "../cells.ts";
import { defineKinds, deprecatedVersion, STATUS } from "../row.ts";
import { migrationHooks } from "./migration.ts";

function printResource(migration: KubeObject): string {
  const group = readText(migration, ".spec.resource.group");
  return `${readText(migration, ".spec.resource.resource")}${group === "" ? "" : `.${group}`}`;
}

const STATES = new Set(["Running", "Failed", "Succeeded"]);

function printState(migration: KubeObject): string {
  const conditions = readObjects(migration, ".status.conditions").filter((condition) => condition.status === "True");
  const types = conditions.map((condition) => readText(condition, ".type"));
  return types.findLast((type) => STATES.has(type)) ?? "Unknown";
}

/** StorageVersionMigration: requests that stored objects are rewritten. */
export const storagemigrationKinds: ResourceDefinition[] = defineKinds(
  { group: "storagemigration.k8s.io", schemaPackage: "io.k8s.api.storagemigration" },
  [
    {
      kind: "StorageVersionMigration",
      plural: "storageversionmigrations",
      scope: "Cluster",
      versions: [
        "v1",
        deprecatedVersion("v1beta1", "1.37", "1.40", "storagemigration.k8s.io/v1 StorageVersionMigration"),
      ],
      storage: { version: "v1beta1" },
      subresources: { status: STATUS },
      columns: [
        column("Name", "string", text(".metadata.name")),
        column("Resource", "string", printResource),
        column("Status", "string", printState),
      ],
      rules: { requiresResourceVersion: true, statusKeepsMetadata: true },
      hooks: migrationHooks,
    },
  ],
);
