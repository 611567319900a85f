import type { ResourceDefinition } from "../../../resources/model/definition.ts";
import { AGE, column, NAME, text } from "../cells.ts";
import { defineKinds } from "../row.ts";
import { runtimeClassHooks } from "./runtime-class.ts";

/** The kinds of node.k8s.io: RuntimeClass. */
export const nodeKinds: ResourceDefinition[] = defineKinds({ group: "node.k8s.io", schemaPackage: "io.k8s.api.node" }, [
  {
    kind: "RuntimeClass",
    plural: "runtimeclasses",
    scope: "Cluster",
    versions: ["v1"],
    columns: [NAME, column("Handler", "string", text(".handler")), AGE],
    rules: { createsOnUpdate: true, requiresResourceVersion: true, freeFinalizers: true },
    hooks: runtimeClassHooks,
  },
]);
