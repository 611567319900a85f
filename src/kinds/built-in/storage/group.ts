import type { KubeObject } from "../../../base/api/object.ts";
import type { ResourceDefinition } from "../../../resources/model/definition.ts";
import { AGE, boolean, column, count, NAME, read, readObjects, readText, readTexts, text } from "../cells.ts";
import { defineKinds, deprecatedVersion, STATUS } from "../row.ts";
import { storageClassHooks, volumeAttributesClassHooks } from "./classes.ts";
import { csiDriverHooks, csiNodeHooks, storageCapacityHooks } from "./drivers.ts";
import { volumeAttachmentHooks } from "./volume-attachment.ts";

const DEFAULT_ANNOTATIONS = [
  "storageclass.kubernetes.io/is-default-class",
  "storageclass.beta.kubernetes.io/is-default-class",
];

function printClassName(storageClass: KubeObject): string {
  const { name = "", annotations } = storageClass.metadata;
  const isDefault = DEFAULT_ANNOTATIONS.some((key) => annotations?.[key] === "true");
  return isDefault ? `${name} (default)` : name;
}

function printTokenRequests(driver: KubeObject): string {
  if (read(driver, ".spec.tokenRequests") === undefined) return "<unset>";
  return readObjects(driver, ".spec.tokenRequests")
    .map((request) => readText(request, ".audience"))
    .join(",");
}

/**
 * The kinds of storage.k8s.io: StorageClass, VolumeAttributesClass, VolumeAttachment, CSIDriver, CSINode and
 * CSIStorageCapacity.
 */
export const storageKinds: ResourceDefinition[] = defineKinds(
  { group: "storage.k8s.io", schemaPackage: "io.k8s.api.storage" },
  [
    {
      kind: "CSIDriver",
      defaults: {
        "spec.attachRequired": true,
        "spec.podInfoOnMount": false,
        "spec.storageCapacity": false,
        "spec.fsGroupPolicy": "ReadWriteOnceWithFSType",
        "spec.requiresRepublish": false,
        "spec.seLinuxMount": false,
        "spec.preventPodSchedulingIfMissing": false,
        "spec.volumeLifecycleModes": ["Persistent"],
      },
      plural: "csidrivers",
      scope: "Cluster",
      versions: ["v1"],
      columns: [
        NAME,
        column("AttachRequired", "boolean", boolean(".spec.attachRequired", true)),
        column("PodInfoOnMount", "boolean", boolean(".spec.podInfoOnMount")),
        column("StorageCapacity", "boolean", boolean(".spec.storageCapacity")),
        column("TokenRequests", "string", printTokenRequests),
        column("RequiresRepublish", "boolean", boolean(".spec.requiresRepublish")),
        column("Modes", "string", (driver) => readTexts(driver, ".spec.volumeLifecycleModes").join(",") || "<none>"),
        AGE,
      ],
      rules: { requiresResourceVersion: true, deleteReturnsObject: true },
      hooks: csiDriverHooks,
    },
    {
      kind: "CSINode",
      plural: "csinodes",
      scope: "Cluster",
      versions: ["v1"],
      subresources: { status: STATUS },
      columns: [NAME, column("Drivers", "integer", count(".spec.drivers")), AGE],
      rules: { requiresResourceVersion: true, deleteReturnsObject: true, statusKeepsMetadata: true },
      hooks: csiNodeHooks,
    },
    {
      kind: "CSIStorageCapacity",
      plural: "csistoragecapacities",
      versions: ["v1"],
      rules: { requiresResourceVersion: true },
      hooks: storageCapacityHooks,
    },
    {
      kind: "StorageClass",
      defaults: { reclaimPolicy: "Delete", volumeBindingMode: "Immediate" },
      plural: "storageclasses",
      shortNames: ["sc"],
      scope: "Cluster",
      versions: ["v1"],
      columns: [
        { ...NAME, cell: printClassName },
        column("Provisioner", "string", text(".provisioner")),
        column("ReclaimPolicy", "string", text(".reclaimPolicy", "Delete")),
        column("VolumeBindingMode", "string", text(".volumeBindingMode", "Immediate")),
        column("AllowVolumeExpansion", "string", boolean(".allowVolumeExpansion")),
        AGE,
      ],
      rules: { deleteReturnsObject: true },
      hooks: storageClassHooks,
    },
    {
      kind: "VolumeAttachment",
      plural: "volumeattachments",
      scope: "Cluster",
      versions: ["v1"],
      subresources: { status: STATUS },
      columns: [
        NAME,
        { ...column("Attacher", "string", text(".spec.attacher")), format: "name" },
        column("PV", "string", text(".spec.source.persistentVolumeName")),
        column("Node", "string", text(".spec.nodeName")),
        column("Attached", "boolean", boolean(".status.attached")),
        AGE,
      ],
      rules: { requiresResourceVersion: true, deleteReturnsObject: true, statusKeepsMetadata: true },
      hooks: volumeAttachmentHooks,
    },
    {
      kind: "VolumeAttributesClass",
      plural: "volumeattributesclasses",
      shortNames: ["vac"],
      scope: "Cluster",
      versions: ["v1", deprecatedVersion("v1beta1", "1.34", "1.37", "storage.k8s.io/v1 VolumeAttributesClass")],
      columns: [NAME, column("DriverName", "string", text(".driverName")), AGE],
      rules: { deleteReturnsObject: true },
      hooks: volumeAttributesClassHooks,
    },
  ],
);
