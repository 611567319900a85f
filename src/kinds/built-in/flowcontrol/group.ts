import type { KubeObject } from "../../../base/api/object.ts";
import type { ResourceDefinition } from "../../../resources/model/definition.ts";
import {
  AGE,
  column,
  findCondition,
  integer,
  NAME,
  optionalInteger,
  optionalText,
  readNumber,
  readText,
  text,
} from "../cells.ts";
import { defineKinds, STATUS } from "../row.ts";
import { flowSchemaHooks } from "./flow-schema.ts";
import { priorityLevelHooks } from "./priority-level.ts";

/** The order of FlowSchemas: by matchingPrecedence, then by name. */
function comparePrecedence(a: KubeObject, b: KubeObject): number {
  const difference = readNumber(a, ".spec.matchingPrecedence") - readNumber(b, ".spec.matchingPrecedence");
  if (difference !== 0) return difference;
  const [first, second] = [a.metadata.name ?? "", b.metadata.name ?? ""];
  return first < second ? -1 : first > second ? 1 : 0;
}

const LIMITED = ".spec.limited";
const QUEUING = `${LIMITED}.limitResponse.queuing`;

/** The kinds of flowcontrol.apiserver.k8s.io: FlowSchema and PriorityLevelConfiguration. */
export const flowcontrolKinds: ResourceDefinition[] = defineKinds(
  { group: "flowcontrol.apiserver.k8s.io", schemaPackage: "io.k8s.api.flowcontrol" },
  [
    {
      kind: "FlowSchema",
      plural: "flowschemas",
      scope: "Cluster",
      versions: ["v1"],
      subresources: { status: STATUS },
      columns: [
        NAME,
        column("PriorityLevel", "string", text(".spec.priorityLevelConfiguration.name")),
        column("MatchingPrecedence", "string", integer(".spec.matchingPrecedence")),
        column("DistinguisherMethod", "string", optionalText(".spec.distinguisherMethod.type", "<none>")),
        AGE,
        column("MissingPL", "string", (schema) => readText(findCondition(schema, "Dangling"), ".status", "?")),
      ],
      table: { compare: comparePrecedence },
      rules: { generation: "counted", statusKeepsMetadata: true },
      hooks: flowSchemaHooks,
    },
    {
      kind: "PriorityLevelConfiguration",
      plural: "prioritylevelconfigurations",
      scope: "Cluster",
      versions: ["v1"],
      subresources: { status: STATUS },
      columns: [
        NAME,
        column("Type", "string", text(".spec.type")),
        column("NominalConcurrencyShares", "string", optionalInteger(`${LIMITED}.nominalConcurrencyShares`, "<none>")),
        column("Queues", "string", optionalInteger(`${QUEUING}.queues`, "<none>")),
        column("HandSize", "string", optionalInteger(`${QUEUING}.handSize`, "<none>")),
        column("QueueLengthLimit", "string", optionalInteger(`${QUEUING}.queueLengthLimit`, "<none>")),
        AGE,
      ],
      rules: { generation: "counted", statusKeepsMetadata: true },
      hooks: priorityLevelHooks,
    },
  ],
);
