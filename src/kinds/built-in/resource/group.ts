import type { KubeObject } from "../../../base/api/object.ts";
import type { ResourceDefinition } from "../../../resources/model/definition.ts";
import { AGE, age, column, count, NAME, read, text } from "../cells.ts";
import { defineKinds, deprecatedVersion, STATUS, selectable, type VersionRow } from "../row.ts";
import { deviceClassHooks, resourceClaimHooks, resourceClaimTemplateHooks } from "./claims.ts";
import { poolStatusColumns } from "./pool-status-cells.ts";
import { resourceSliceHooks } from "./slices.ts";
import { deviceTaintRuleHooks, poolStatusRequestHooks } from "./taint-rules.ts";

const VERSIONS: readonly (string | VersionRow)[] = [
  "v1",
  deprecatedVersion("v1beta2", "1.36", "1.39"),
  deprecatedVersion("v1beta1", "1.35", "1.38"),
];

const reservations = count(".status.reservedFor");

function printState(claim: KubeObject, now: number): string {
  const states: string[] = [];
  const isDeleted = claim.metadata.deletionTimestamp !== undefined;
  if (isDeleted) states.push("deleted");
  if (read(claim, ".status.allocation") !== undefined) {
    states.push("allocated");
    if (reservations(claim, now) !== 0) states.push("reserved");
  } else if (!isDeleted) states.push("pending");
  return states.join(",");
}

/** The kinds of resource.k8s.io (dynamic resource allocation). */
export const resourceKinds: ResourceDefinition[] = defineKinds(
  { group: "resource.k8s.io", schemaPackage: "io.k8s.api.resource" },
  [
    {
      kind: "DeviceClass",
      plural: "deviceclasses",
      scope: "Cluster",
      versions: VERSIONS,
      columns: [NAME, AGE],
      rules: { nameRule: "own", generation: "counted", deleteReturnsObject: true },
      hooks: deviceClassHooks,
    },
    {
      kind: "DeviceTaintRule",
      plural: "devicetaintrules",
      scope: "Cluster",
      versions: [
        { name: "v1", requiresResourceVersion: true },
        { name: "v1beta2", deleteReturnsObject: true },
        { ...deprecatedVersion("v1alpha3", "1.36", "1.39"), deleteReturnsObject: true },
      ],
      storage: { version: "v1beta2" },
      subresources: { status: STATUS },
      columns: [
        NAME,
        column("Key", "string", text(".spec.taint.key")),
        column("Value", "string", text(".spec.taint.value")),
        column("Effect", "string", text(".spec.taint.effect")),
        column("TimeAdded", "string", age(".spec.taint.timeAdded", "")),
        AGE,
      ],
      rules: { generation: "counted", statusKeepsMetadata: true },
      hooks: deviceTaintRuleHooks,
    },
    {
      kind: "ResourceClaim",
      plural: "resourceclaims",
      versions: VERSIONS,
      subresources: { status: STATUS },
      columns: [NAME, column("State", "string", printState), AGE],
      rules: { deleteReturnsObject: true, statusKeepsMetadata: true },
      actions: { reserve: "claimAdminAccess" },
      hooks: resourceClaimHooks,
    },
    {
      kind: "ResourceClaimTemplate",
      plural: "resourceclaimtemplates",
      versions: VERSIONS,
      columns: [NAME, AGE],
      rules: { deleteReturnsObject: true },
      actions: { reserve: "templateAdminAccess" },
      hooks: resourceClaimTemplateHooks,
    },
    {
      kind: "ResourcePoolStatusRequest",
      plural: "resourcepoolstatusrequests",
      scope: "Cluster",
      versions: ["v1alpha3"],
      subresources: { status: STATUS },
      columns: poolStatusColumns,
      rules: { requiresResourceVersion: true, deleteReturnsObject: true, statusKeepsMetadata: true },
      hooks: poolStatusRequestHooks,
    },
    {
      kind: "ResourceSlice",
      plural: "resourceslices",
      scope: "Cluster",
      versions: VERSIONS,
      columns: [
        NAME,
        column("Node", "string", text(".spec.nodeName")),
        column("Driver", "string", text(".spec.driver")),
        column("Pool", "string", text(".spec.pool.name")),
        AGE,
      ],
      selectableFields: [selectable("spec.nodeName"), selectable("spec.driver"), selectable("spec.pool.name")],
      rules: {
        generation: "counted",
        deleteReturnsObject: true,
        unknownFieldMessage: "field label not supported for %v, Kind=ResourceSlice: %s",
      },
      hooks: resourceSliceHooks,
    },
  ],
);
