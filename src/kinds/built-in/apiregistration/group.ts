import type { KubeObject } from "../../../base/api/object.ts";
import type { ResourceDefinition } from "../../../resources/model/definition.ts";
import { AGE, column, findCondition, NAME, read, readText } from "../cells.ts";
import { defineKinds, STATUS } from "../row.ts";
import { apiServiceHooks } from "./api-service.ts";

function printService(service: KubeObject): string {
  const reference = read(service, ".spec.service");
  if (reference === undefined) return "Local";
  return `${readText(reference, ".namespace")}/${readText(reference, ".name")}`;
}

function printAvailable(service: KubeObject): string {
  const condition = findCondition(service, "Available");
  const status = readText(condition, ".status", "Unknown");
  const reason = readText(condition, ".reason");
  return status === "True" || reason === "" ? status : `${status} (${reason})`;
}

/** APIService of apiregistration.k8s.io. */
export const apiregistrationKinds: ResourceDefinition[] = defineKinds(
  { group: "apiregistration.k8s.io", schemaPackage: "io.k8s.kube-aggregator.pkg.apis.apiregistration" },
  [
    {
      kind: "APIService",
      plural: "apiservices",
      categories: ["api-extensions"],
      scope: "Cluster",
      versions: ["v1"],
      storage: { prefix: "apiregistration.k8s.io/apiservices" },
      subresources: { status: STATUS },
      columns: [NAME, column("Service", "string", printService), column("Available", "string", printAvailable), AGE],
      rules: {
        nameRule: "own",
        requiresResourceVersion: true,
        statusKeepsMetadata: true,
        freeFinalizers: true,
      },
      defaults: { "spec.service.port": 443 },
      hooks: apiServiceHooks,
    },
  ],
);
