import type { Column } from "../../../base/api/columns.ts";
import { groupOf, type KubeObject, type OwnerReference } from "../../../base/api/object.ts";
import type { ResourceDefinition } from "../../../resources/model/definition.ts";
import {
  AGE,
  column,
  containerColumns,
  integer,
  labels,
  NAME,
  printSelector,
  read,
  readNumber,
  selector,
  wide,
} from "../cells.ts";
import { defineKinds, SCALE, STATUS } from "../row.ts";
import { controllerRevisionHooks } from "./controller-revision.ts";
import { daemonSetDefaults, daemonSetHooks } from "./daemon-set.ts";
import { deploymentDefaults, deploymentHooks } from "./deployment.ts";
import { replicaSetHooks } from "./replica-set.ts";
import { statefulSetDefaults, statefulSetHooks } from "./stateful-set.ts";

const readyColumn: Column = column("Ready", "string", (workload) => {
  return `${readNumber(workload, ".status.readyReplicas")}/${readNumber(workload, ".spec.replicas")}`;
});
const containers: readonly Column[] = containerColumns(".spec.template.spec");
const selectorColumn: Column = wide("Selector", "string", selector(".spec.selector"));

function printOwner(owner: OwnerReference): string {
  const group = groupOf(owner.apiVersion);
  return `${owner.kind}${group === "" ? "" : `.${group}`}`.toLowerCase().concat(`/${owner.name}`);
}

function printController(revision: KubeObject): string {
  const owner = revision.metadata.ownerReferences?.find((reference) => reference.controller === true);
  return owner === undefined ? "<none>" : printOwner(owner);
}

/** The kinds of apps: Deployment, ReplicaSet, StatefulSet, DaemonSet and ControllerRevision. */
export const appsKinds: ResourceDefinition[] = defineKinds({ group: "apps", schemaPackage: "io.k8s.api.apps" }, [
  {
    kind: "ControllerRevision",
    plural: "controllerrevisions",
    versions: ["v1"],
    columns: [
      NAME,
      column("Controller", "string", printController),
      column("Revision", "string", integer(".revision")),
      AGE,
    ],
    hooks: controllerRevisionHooks,
  },
  {
    kind: "DaemonSet",
    plural: "daemonsets",
    shortNames: ["ds"],
    categories: ["all"],
    versions: ["v1"],
    subresources: { status: STATUS },
    columns: [
      NAME,
      column("Desired", "integer", integer(".status.desiredNumberScheduled")),
      column("Current", "integer", integer(".status.currentNumberScheduled")),
      column("Ready", "integer", integer(".status.numberReady")),
      column("Up-to-date", "integer", integer(".status.updatedNumberScheduled")),
      column("Available", "integer", integer(".status.numberAvailable")),
      column("Node Selector", "string", labels(".spec.template.spec.nodeSelector")),
      AGE,
      ...containers,
      selectorColumn,
    ],
    rules: { generation: "counted" },
    defaults: daemonSetDefaults,
    hooks: daemonSetHooks,
  },
  {
    kind: "Deployment",
    plural: "deployments",
    shortNames: ["deploy"],
    categories: ["all"],
    versions: ["v1"],
    subresources: { scale: SCALE, status: STATUS },
    columns: [
      NAME,
      readyColumn,
      column("Up-to-date", "string", integer(".status.updatedReplicas")),
      column("Available", "string", integer(".status.availableReplicas")),
      AGE,
      ...containers,
      wide("Selector", "string", (deployment) => printSelector(read(deployment, ".spec.selector")) ?? "<invalid>"),
    ],
    rules: { generation: "counted", statusKeepsMetadata: ["labels"] },
    defaults: deploymentDefaults,
    hooks: deploymentHooks,
  },
  {
    kind: "ReplicaSet",
    plural: "replicasets",
    shortNames: ["rs"],
    categories: ["all"],
    versions: ["v1"],
    subresources: { scale: SCALE, status: STATUS },
    columns: [
      NAME,
      column("Desired", "integer", integer(".spec.replicas")),
      column("Current", "integer", integer(".status.replicas")),
      column("Ready", "integer", integer(".status.readyReplicas")),
      AGE,
      ...containers,
      selectorColumn,
    ],
    rules: { generation: "counted" },
    defaults: { "spec.replicas": 1 },
    hooks: replicaSetHooks,
  },
  {
    kind: "StatefulSet",
    plural: "statefulsets",
    shortNames: ["sts"],
    categories: ["all"],
    versions: ["v1"],
    subresources: { scale: SCALE, status: STATUS },
    columns: [NAME, readyColumn, AGE, ...containers],
    rules: { nameRule: "dns1123Label", generation: "counted" },
    defaults: statefulSetDefaults,
    hooks: statefulSetHooks,
  },
]);
