import { MAX_QUESTION_BYTES, MAX_SMALL_OBJECT_BYTES } from "../../../base/api/body-limits.ts";
import { isObject, type KubeObject } from "../../../base/api/object.ts";
import { getMember } from "../../../base/util/members.ts";
import type { ResourceDefinition, Subresource, SubresourceKind, Verb } from "../../../resources/model/definition.ts";
import { builtInSchema } from "../../schema-files/built-in-schemas.ts";
import {
  AGE,
  column,
  containerColumns,
  count,
  integer,
  labels,
  NAME,
  read,
  readObjects,
  readText,
  text,
  wide,
} from "../cells.ts";
import { eventHooks } from "../events/event.ts";
import { EVENT_TTL_SECONDS, type EventShape, eventColumns, referenceFields } from "../events/event-shape.ts";
import { ALL_VERBS, defineKinds, FIELD_LABEL_NOT_SUPPORTED, PART, SCALE, STATUS, selectable } from "../row.ts";
import { defaultsOf } from "../shared-rules/defaults.ts";
import { configMapHooks, secretHooks, serviceAccountHooks } from "./config/config-data.ts";
import { limitRangeHooks } from "./config/limit-range.ts";
import { namespaceHooks } from "./config/namespace.ts";
import { resourceQuotaHooks } from "./config/resource-quota.ts";
import { nodeHooks } from "./node/node.ts";
import { nodeColumns } from "./node/node-cells.ts";
import { podHooks } from "./pod/pod.ts";
import { podColumns, podRowConditions } from "./pod/pod-cells.ts";
import { podTemplateHooks } from "./pod/pod-template.ts";
import { replicationControllerHooks } from "./pod/replication-controller.ts";
import { endpointsHooks } from "./service/endpoints.ts";
import { serviceHooks } from "./service/service.ts";
import { endpointsColumns, serviceColumns } from "./service/service-cells.ts";
import { persistentVolumeHooks } from "./volume/persistent-volume.ts";
import { persistentVolumeClaimHooks } from "./volume/persistent-volume-claim.ts";
import { claimColumns, volumeColumns } from "./volume/volume-cells.ts";

const PROXY_VERBS: readonly Verb[] = ["create", "delete", "get", "patch", "update"];
const STREAM_VERBS: readonly Verb[] = ["create", "get"];
const BINDING: SubresourceKind = {
  group: "",
  version: "v1",
  kind: "Binding",
  schema: () => builtInSchema("io.k8s.api.core.v1.Binding"),
};
const EVICTION: SubresourceKind = {
  group: "policy",
  version: "v1",
  kind: "Eviction",
  otherVersions: ["v1beta1"],
  schema: () => builtInSchema("io.k8s.api.policy.v1.Eviction"),
};

const TOKEN_REQUEST: SubresourceKind = {
  group: "authentication.k8s.io",
  version: "v1",
  kind: "TokenRequest",
  schema: () => builtInSchema("io.k8s.api.authentication.v1.TokenRequest"),
  hooks: { setDefaults: defaultsOf({ spec: {}, "spec.expirationSeconds": 3600 }) },
};

function connect(kind: string, verbs: readonly Verb[]): Subresource {
  return { verbs, connect: true, kind: { group: "", version: "v1", kind } };
}

const eventShape: EventShape = {
  regarding: ".involvedObject",
  message: ".message",
  source: ".source",
  controller: ".reportingComponent",
  first: ".firstTimestamp",
  last: ".lastTimestamp",
  count: ".count",
};

/** The columns Request and Limit of a ResourceQuota: used and hard of the resources that `belongs` selects. */
function printQuota(quota: KubeObject, belongs: (resource: string) => boolean): string {
  const hard = read(quota, ".status.hard");
  const used = read(quota, ".status.used");
  if (!isObject(hard)) return "";
  return Object.keys(hard)
    .filter(belongs)
    .sort()
    .map(
      (resource) =>
        `${resource}: ${(isObject(used) ? getMember(used, resource) : undefined) ?? 0}/${hard[resource] ?? 0}`,
    )
    .join(", ");
}

const isLimit = (resource: string): boolean => resource.startsWith("limits.");

function healthy(component: KubeObject, member: string): string {
  const condition = readObjects(component, ".conditions").find((one) => one.type === "Healthy");
  return readText(condition, member);
}

const HEALTH: Readonly<Record<string, string>> = { "": "Unknown", True: "Healthy" };

/** The kinds of the core group. */
export const coreKinds: ResourceDefinition[] = defineKinds({ group: "", schemaPackage: "io.k8s.api.core" }, [
  {
    kind: "Binding",
    plural: "bindings",
    versions: ["v1"],
    verbs: ["create"],
    storage: "none",
    actions: { create: "binding" },
    rules: { maxBodyBytes: MAX_SMALL_OBJECT_BYTES },
  },
  {
    kind: "ComponentStatus",
    plural: "componentstatuses",
    shortNames: ["cs"],
    scope: "Cluster",
    versions: [{ name: "v1", deprecation: { since: "1.19" } }],
    verbs: ["get", "list"],
    storage: "none",
    columns: [
      NAME,
      column("Status", "string", (component) => getMember(HEALTH, healthy(component, ".status")) ?? "Unhealthy"),
      column("Message", "string", (component) => healthy(component, ".message")),
      column("Error", "string", (component) => healthy(component, ".error")),
    ],
    actions: { compute: "componentStatuses" },
  },
  {
    kind: "ConfigMap",
    plural: "configmaps",
    shortNames: ["cm"],
    versions: ["v1"],
    columns: [NAME, column("Data", "string", count(".data", ".binaryData")), AGE],
    hooks: configMapHooks,
  },
  {
    kind: "Endpoints",
    plural: "endpoints",
    shortNames: ["ep"],
    versions: [{ name: "v1", deprecation: { since: "1.33", replacement: "discovery.k8s.io/v1 EndpointSlice" } }],
    storage: { prefix: "services/endpoints" },
    columns: endpointsColumns,
    defaults: { "subsets[*].ports[*].protocol": "TCP" },
    rules: { createsOnUpdate: true },
    hooks: endpointsHooks,
  },
  {
    kind: "Event",
    plural: "events",
    shortNames: ["ev"],
    versions: ["v1"],
    columns: eventColumns(eventShape),
    selectableFields: [
      ...referenceFields("involvedObject"),
      selectable("reason"),
      selectable("reportingComponent"),
      {
        name: "source",
        value: (event) => readText(event, ".source.component") || readText(event, ".reportingComponent"),
      },
      selectable("type"),
    ],
    rules: {
      nameRule: "pathSegment",
      freeFinalizers: true,
      metadataLast: true,
      cannotOwn: true,
      createsOnUpdate: true,
      garbageCollection: "unsupported",
      ttlSeconds: EVENT_TTL_SECONDS,
      unknownFieldMessage: FIELD_LABEL_NOT_SUPPORTED,
    },
    hooks: eventHooks,
  },
  {
    kind: "LimitRange",
    plural: "limitranges",
    shortNames: ["limits"],
    versions: ["v1"],
    // Compat: `limitrangeStrategy.PrepareForCreate` sets a UUID as the name of a LimitRange without `metadata.name`.
    rules: { createsOnUpdate: true, namedByUuid: true },
    hooks: limitRangeHooks,
  },
  {
    kind: "Namespace",
    plural: "namespaces",
    shortNames: ["ns"],
    scope: "Cluster",
    versions: ["v1"],
    verbs: ALL_VERBS.filter((verb) => verb !== "deletecollection"),
    subresources: { finalize: { verbs: ["update"], writes: "object" }, status: STATUS },
    hooks: namespaceHooks,
    columns: [NAME, column("Status", "string", text(".status.phase")), AGE],
    selectableFields: [selectable("status.phase")],
    rules: {
      nameRule: "dns1123Label",
      deleteReturnsObject: true,
      unknownFieldMessage: FIELD_LABEL_NOT_SUPPORTED,
    },
  },
  {
    kind: "Node",
    plural: "nodes",
    shortNames: ["no"],
    scope: "Cluster",
    versions: ["v1"],
    storage: { prefix: "minions" },
    subresources: { proxy: connect("NodeProxyOptions", PROXY_VERBS), status: STATUS },
    columns: nodeColumns,
    selectableFields: [selectable("spec.unschedulable", ".spec.unschedulable", "false")],
    rules: { createKeepsStatus: true, unknownFieldMessage: FIELD_LABEL_NOT_SUPPORTED },
    hooks: nodeHooks,
  },
  {
    kind: "PersistentVolumeClaim",
    plural: "persistentvolumeclaims",
    shortNames: ["pvc"],
    versions: ["v1"],
    subresources: { status: STATUS },
    columns: claimColumns,
    rules: { deleteReturnsObject: true },
    hooks: persistentVolumeClaimHooks,
  },
  {
    kind: "PersistentVolume",
    plural: "persistentvolumes",
    shortNames: ["pv"],
    scope: "Cluster",
    versions: ["v1"],
    subresources: { status: STATUS },
    columns: volumeColumns,
    defaults: { "spec.persistentVolumeReclaimPolicy": "Retain" },
    rules: { deleteReturnsObject: true },
    hooks: persistentVolumeHooks,
  },
  {
    kind: "Pod",
    plural: "pods",
    shortNames: ["po"],
    categories: ["all"],
    versions: ["v1"],
    subresources: {
      attach: connect("PodAttachOptions", STREAM_VERBS),
      binding: { verbs: ["create"], kind: BINDING, action: "binding", maxBodyBytes: MAX_SMALL_OBJECT_BYTES },
      ephemeralcontainers: { verbs: PART.verbs, writes: ["spec.ephemeralContainers"] },
      eviction: { verbs: ["create"], kind: EVICTION, action: "eviction", maxBodyBytes: MAX_SMALL_OBJECT_BYTES },
      exec: connect("PodExecOptions", STREAM_VERBS),
      log: { verbs: ["get"], connect: true },
      portforward: connect("PodPortForwardOptions", STREAM_VERBS),
      proxy: connect("PodProxyOptions", PROXY_VERBS),
      resize: { verbs: PART.verbs, writes: ["spec"] },
      status: STATUS,
    },
    columns: podColumns,
    table: { rowConditions: podRowConditions },
    selectableFields: [
      selectable("spec.nodeName"),
      // Compat: the field selector `spec.host` is an alias of `spec.nodeName`.
      selectable("spec.host", ".spec.nodeName"),
      selectable("spec.restartPolicy"),
      selectable("spec.schedulerName"),
      selectable("spec.serviceAccountName"),
      selectable("spec.hostNetwork", ".spec.hostNetwork", "false"),
      selectable("status.phase"),
      {
        name: "status.podIP",
        value: (pod) => readText(readObjects(pod, ".status.podIPs")[0], ".ip") || readText(pod, ".status.podIP"),
      },
      // Compat: the field selector `status.podIPs` is accepted, but `pod.ToSelectableFields` never sets it.
      { name: "status.podIPs", value: () => "" },
      selectable("status.nominatedNodeName"),
    ],
    rules: {
      generation: "counted",
      deleteReturnsObject: true,
      statusKeepsMetadata: ["ownerReferences"],
      unknownFieldMessage: FIELD_LABEL_NOT_SUPPORTED,
    },
    hooks: podHooks,
  },
  {
    kind: "PodTemplate",
    plural: "podtemplates",
    versions: ["v1"],
    columns: [
      NAME,
      ...containerColumns(".template.spec", column),
      column("Pod Labels", "string", labels(".template.metadata.labels")),
    ],
    rules: { generation: "counted", deleteReturnsObject: true },
    hooks: podTemplateHooks,
  },
  {
    kind: "ReplicationController",
    plural: "replicationcontrollers",
    shortNames: ["rc"],
    categories: ["all"],
    versions: ["v1"],
    storage: { prefix: "controllers" },
    subresources: { scale: SCALE, status: STATUS },
    columns: [
      NAME,
      column("Desired", "integer", integer(".spec.replicas")),
      column("Current", "integer", integer(".status.replicas")),
      column("Ready", "integer", integer(".status.readyReplicas")),
      AGE,
      ...containerColumns(".spec.template.spec"),
      wide("Selector", "string", labels(".spec.selector")),
    ],
    selectableFields: [selectable("status.replicas", ".status.replicas", "0")],
    rules: {
      generation: "counted",
      garbageCollection: "orphan",
      unknownFieldMessage: FIELD_LABEL_NOT_SUPPORTED,
    },
    defaults: { "spec.replicas": 1 },
    hooks: replicationControllerHooks,
  },
  {
    kind: "ResourceQuota",
    plural: "resourcequotas",
    shortNames: ["quota"],
    versions: ["v1"],
    subresources: { status: STATUS },
    columns: [
      NAME,
      column("Request", "string", (quota) => printQuota(quota, (resource) => !isLimit(resource))),
      column("Limit", "string", (quota) => printQuota(quota, isLimit)),
      AGE,
    ],
    rules: { deleteReturnsObject: true },
    hooks: resourceQuotaHooks,
  },
  {
    kind: "Secret",
    plural: "secrets",
    versions: ["v1"],
    hooks: secretHooks,
    columns: [NAME, column("Type", "string", text(".type")), column("Data", "string", count(".data")), AGE],
    selectableFields: [selectable("type")],
    rules: { unknownFieldMessage: FIELD_LABEL_NOT_SUPPORTED, isSecret: true },
  },
  {
    kind: "ServiceAccount",
    plural: "serviceaccounts",
    shortNames: ["sa"],
    versions: ["v1"],
    hooks: serviceAccountHooks,
    subresources: {
      token: {
        ...{ verbs: ["create"], kind: TOKEN_REQUEST, action: "tokenRequest" },
        ...{ isSecret: true, maxBodyBytes: MAX_QUESTION_BYTES },
      },
    },
    columns: [NAME, AGE],
    rules: { deleteReturnsObject: true },
  },
  {
    kind: "Service",
    plural: "services",
    shortNames: ["svc"],
    categories: ["all"],
    versions: ["v1"],
    storage: { prefix: "services/specs" },
    subresources: { proxy: connect("ServiceProxyOptions", PROXY_VERBS), status: STATUS },
    columns: serviceColumns,
    selectableFields: [selectable("spec.clusterIP"), selectable("spec.type")],
    actions: { reserve: "serviceAllocation" },
    hooks: serviceHooks,
    rules: {
      nameRule: "dns1123Label",
      createsOnUpdate: true,
      deleteReturnsObject: true,
      unknownFieldMessage: FIELD_LABEL_NOT_SUPPORTED,
    },
  },
]);
