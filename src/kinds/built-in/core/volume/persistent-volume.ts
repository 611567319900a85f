import path from "node:path";
import type { FeatureGates } from "../../../../base/api/feature-gates.ts";
import {
  type FieldError,
  forbiddenField,
  invalidField,
  notSupportedField,
  requiredField,
} from "../../../../base/api/field-error.ts";
import { labelValue } from "../../../../base/api/names.ts";
import { isObject, type JsonObject, type KubeObject } from "../../../../base/api/object.ts";
import { parseQuantity } from "../../../../base/api/quantity.ts";
import { addAll } from "../../../../base/util/add-all.ts";
import type { ResourceHooks } from "../../../../resources/model/definition.ts";
import { printTime } from "../../../../resources/write/metadata.ts";
import { type PersistentVolumeSpec, statusOf, volumeSpecOf } from "../../../types/persistent-volume.ts";
import type { NodeSelectorTerm } from "../../../types/pod.ts";
import { pushInvalid, subdomainName } from "../../shared-rules/formats.ts";
import { asGo, type GoShape } from "../../shared-rules/go-print.ts";
import { IMMUTABLE, immutable, sameValue } from "../../shared-rules/immutable.ts";
import { deprecatedNodeLabel, GA_NODE_LABELS } from "../../shared-rules/node-labels.ts";
import { printDifferences } from "../../shared-rules/print-differences.ts";
import { roundResourceList } from "../../shared-rules/quantities.ts";
import { wholeValue } from "../../shared-rules/resource-names.ts";
import { validateNodeSelector } from "../pod/affinity-validation.ts";
import { accessModeErrors, VOLUME_MODES } from "./claim-spec-validation.ts";
import { sourceErrors, VOLUME_SOURCES } from "./persistent-volume-sources.ts";
import { setVolumeDefaults } from "./volume-defaults.ts";

const POLICIES = ["Delete", "Recycle", "Retain"];
const MOUNT_OPTIONS = "volume.beta.kubernetes.io/mount-options";
/** Sources that support mountOptions. */
const MOUNTED = new Set([
  ...["gcePersistentDisk", "awsElasticBlockStore", "glusterfs", "nfs", "rbd", "quobyte", "iscsi", "cinder", "cephfs"],
  ...["azureFile", "vsphereVolume", "azureDisk", "photonPersistentDisk"],
]);
const OLD_ANNOTATIONS = [
  ["volume.beta.kubernetes.io/storage-class", 'deprecated since v1.8; use "storageClassName" attribute instead'],
  [MOUNT_OPTIONS, 'deprecated since v1.31; use "mountOptions" attribute instead'],
] as const;
const OLD_SOURCES = [
  ["cephfs", "cephfs", "deprecated in v1.28, non-functional in v1.31+"],
  ["photonPersistentDisk", "photonPersistentDisk", "deprecated in v1.11, non-functional in v1.16+"],
  ["scaleIO", "scaleIO", "deprecated in v1.16, non-functional in v1.22+"],
  ["storageos", "storageOS", "deprecated in v1.22, non-functional in v1.25+"],
  ["glusterfs", "glusterfs", "deprecated in v1.25, non-functional in v1.26+"],
  ["rbd", "rbd", "deprecated in v1.28, non-functional in v1.31+"],
] as const;

const REQUIREMENT: GoShape = [
  ["Key", "key", ""],
  ["Operator", "operator", ""],
  ["Values", "values"],
];
const AFFINITY: GoShape = [
  [
    "Required",
    "required",
    null,
    [
      [
        "NodeSelectorTerms",
        "nodeSelectorTerms",
        null,
        [
          ["MatchExpressions", "matchExpressions", null, REQUIREMENT],
          ["MatchFields", "matchFields", null, REQUIREMENT],
        ],
      ],
    ],
  ],
];

function capacityErrors({ capacity = {} }: PersistentVolumeSpec): FieldError[] {
  const at = "spec.capacity";
  const errors: FieldError[] = [];
  const names = Object.keys(capacity);
  if (names.length === 0) errors.push(requiredField(at));
  if (names.length !== 1 || names[0] !== "storage") {
    errors.push(notSupportedField(at, names.length === 0 ? undefined : capacity, ["storage"]));
  }
  for (const [name, amount] of Object.entries(capacity)) {
    const whole = wholeValue(parseQuantity(amount));
    if (whole < 0n) errors.push(invalidField(`${at}[${name}]`, Number(whole), "must be a valid resource quantity"));
    if (whole <= 0n) errors.push(invalidField(`${at}[${name}]`, amount, "must be greater than zero"));
  }
  return errors;
}

const termsOf = ({ nodeAffinity }: PersistentVolumeSpec): NodeSelectorTerm[] =>
  nodeAffinity?.required?.nodeSelectorTerms ?? [];

function affinityErrors({ nodeAffinity }: PersistentVolumeSpec, old: PersistentVolumeSpec | undefined): FieldError[] {
  if (!nodeAffinity) return [];
  const { required } = nodeAffinity;
  const at = "spec.nodeAffinity.required";
  if (!required) return [requiredField(at, "must specify required node constraints")];
  const hadInvalidValue = termsOf(old ?? {}).some(({ matchExpressions = [] }) =>
    matchExpressions.some(({ values = [] }) => values.some((value) => labelValue(value).length > 0)),
  );
  const errors: FieldError[] = [];
  validateNodeSelector(errors, required, at, hadInvalidValue);
  return errors;
}

function volumeErrors(volume: KubeObject, old: PersistentVolumeSpec | undefined): FieldError[] {
  const spec = volumeSpecOf(volume);
  const { accessModes = [], persistentVolumeReclaimPolicy: policy = "", hostPath } = spec;
  const errors = accessModes.length === 0 ? [requiredField("spec.accessModes")] : [];
  addAll(errors, accessModeErrors(accessModes, "spec.accessModes"), capacityErrors(spec));
  if (policy !== "" && !POLICIES.includes(policy)) {
    errors.push(notSupportedField("spec.persistentVolumeReclaimPolicy", policy, POLICIES));
  }
  addAll(errors, affinityErrors(spec, old), sourceErrors(spec, volume.metadata.name ?? ""));
  if (hostPath && policy === "Recycle" && path.posix.normalize(`${hostPath.path ?? ""}/`) === "/") {
    const text = "may not be 'recycle' for a hostPath mount of '/'";
    errors.push(forbiddenField("spec.persistentVolumeReclaimPolicy", text));
  }
  return [...errors, ...classErrors(spec), ...mountErrors(volume)];
}

function classErrors({
  storageClassName = "",
  volumeMode,
  volumeAttributesClassName: name,
  csi,
}: PersistentVolumeSpec) {
  const errors: FieldError[] = [];
  if (storageClassName !== "") {
    pushInvalid(errors, "spec.storageClassName", storageClassName, subdomainName(storageClassName));
  }
  if (volumeMode !== undefined && !VOLUME_MODES.includes(volumeMode)) {
    errors.push(notSupportedField("spec.volumeMode", volumeMode, VOLUME_MODES));
  }
  if (name === undefined) return errors;
  const at = "spec.volumeAttributesClassName";
  if (name === "") errors.push(requiredField(at, "an empty string is disallowed"));
  else pushInvalid(errors, at, name, subdomainName(name));
  if (!csi) errors.push(requiredField("spec.csi", "has to be specified when using volumeAttributesClassName"));
  return errors;
}

function mountErrors(volume: KubeObject): FieldError[] {
  const spec = volumeSpecOf(volume);
  if (volume.metadata.annotations?.[MOUNT_OPTIONS] === undefined) return [];
  if (VOLUME_SOURCES.some((source) => MOUNTED.has(source) && isObject(spec[source]))) return [];
  const text = "may not specify mount options for this volume type";
  return [forbiddenField(`metadata.annotations.${MOUNT_OPTIONS}`, text)];
}

function changeErrors(spec: PersistentVolumeSpec, old: PersistentVolumeSpec, features: FeatureGates): FieldError[] {
  const errors: FieldError[] = [];
  const mayExpandLater = old.csi && !old.csi.controllerExpandSecretRef;
  const { controllerExpandSecretRef: _, ...csi } = spec.csi ?? {};
  const next = mayExpandLater && spec.csi ? { ...spec, csi } : spec;
  const [before, after] = [sourcesOf(old), sourcesOf(next)];
  if (!sameValue(before, after)) {
    const text = `spec.persistentvolumesource is immutable after creation\n${printDifferences(before, after)}`;
    errors.push(forbiddenField("spec.persistentvolumesource", text));
  }
  addAll(errors, immutable(spec.volumeMode, old.volumeMode, "volumeMode"));
  const isFixed = old.nodeAffinity !== undefined && !features.enabled("MutablePVNodeAffinity");
  if (isFixed && !sameValue(withNewLabels(spec, old), old.nodeAffinity)) {
    const shown = asGo(spec.nodeAffinity, AFFINITY);
    errors.push(invalidField("nodeAffinity", shown, `${IMMUTABLE}, except for updating from beta label to GA`));
  }
  if (old.volumeAttributesClassName !== undefined && spec.volumeAttributesClassName === undefined) {
    const text = "update from non-nil value to nil is forbidden";
    errors.push(forbiddenField("spec.volumeAttributesClassName", text));
  }
  return errors;
}

function sourcesOf(spec: PersistentVolumeSpec): JsonObject {
  return Object.fromEntries(VOLUME_SOURCES.flatMap((source) => (spec[source] ? [[source, spec[source]]] : [])));
}

/** The nodeAffinity of `spec` with the deprecated label names of `old` instead of their GA names. */
function withNewLabels({ nodeAffinity }: PersistentVolumeSpec, old: PersistentVolumeSpec): JsonObject | undefined {
  if (!nodeAffinity?.required) return nodeAffinity;
  const oldTerms = termsOf(old);
  const terms = (nodeAffinity.required.nodeSelectorTerms ?? []).map((term, at) => ({
    ...term,
    ...(term.matchExpressions
      ? {
          matchExpressions: term.matchExpressions.map((requirement, index) => {
            const oldKey = oldTerms[at]?.matchExpressions?.[index]?.key ?? "";
            return GA_NODE_LABELS[oldKey] === requirement.key ? { ...requirement, key: oldKey } : requirement;
          }),
        }
      : {}),
  }));
  return { ...nodeAffinity, required: { ...nodeAffinity.required, nodeSelectorTerms: terms } };
}

function warnings(volume: KubeObject): string[] {
  const spec = volumeSpecOf(volume);
  const { annotations = {} } = volume.metadata;
  const recycling =
    "spec.persistentVolumeReclaimPolicy: The Recycle reclaim policy is deprecated. Instead, the recommended approach is to use dynamic provisioning.";
  return [
    ...OLD_ANNOTATIONS.flatMap(([key, text]) => (key in annotations ? [`metadata.annotations[${key}]: ${text}`] : [])),
    ...(spec.persistentVolumeReclaimPolicy === "Recycle" ? [recycling] : []),
    ...termsOf(spec).flatMap(({ matchExpressions = [] }, at) =>
      matchExpressions.flatMap(({ key = "" }, index) => {
        const text = deprecatedNodeLabel(key);
        const where = `spec.nodeAffinity.required.nodeSelectorTerms[${at}].matchExpressions[${index}].key`;
        return text === undefined ? [] : [`${where}: ${key} is ${text}`];
      }),
    ),
    ...OLD_SOURCES.flatMap(([member, name, text]) => (isObject(spec[member]) ? [`spec.${name}: ${text}`] : [])),
  ];
}

/** PersistentVolume: storage that outlives the pods that use it. */
export const persistentVolumeHooks: ResourceHooks = {
  setDefaults(volume) {
    const spec = volumeSpecOf(volume);
    const { hostPath, iscsi, rbd, azureDisk, scaleIO } = spec;
    setVolumeDefaults({ hostPath, iscsi, rbd, azureDisk, scaleIO });
    roundResourceList(spec.capacity);
    spec.volumeMode ??= "Filesystem";
    const status = statusOf(volume);
    if (!status.phase) status.phase = "Pending";
  },
  prepare(next, previous, { subresource, now }) {
    const status = statusOf(next);
    if (!previous) {
      next.status = { phase: "Pending", lastPhaseTransitionTime: printTime(now) };
    } else if (subresource === "status") {
      const { phase, lastPhaseTransitionTime: since } = statusOf(previous);
      const isUntold = !status.lastPhaseTransitionTime || status.lastPhaseTransitionTime === since;
      if (phase !== status.phase && isUntold) status.lastPhaseTransitionTime = printTime(now);
      else if (isUntold && since) status.lastPhaseTransitionTime = since;
    }
  },
  validate(next, previous, { subresource, features }) {
    if (subresource === "status") return [];
    const old = previous && volumeSpecOf(previous);
    return [...volumeErrors(next, old), ...(old ? changeErrors(volumeSpecOf(next), old, features) : [])];
  },
  warn: (next, _previous, { subresource }) => (subresource === "status" ? [] : warnings(next)),
};
