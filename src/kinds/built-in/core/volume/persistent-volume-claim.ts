import type { FeatureGates } from "../../../../base/api/feature-gates.ts";
import { type FieldError, forbiddenField, invalidField, notSupportedField } from "../../../../base/api/field-error.ts";
import { qualifiedName } from "../../../../base/api/names.ts";
import type { Json, JsonObject, KubeObject } from "../../../../base/api/object.ts";
import { compareQuantities, parseQuantity, type Quantity } from "../../../../base/api/quantity.ts";
import { addAll } from "../../../../base/util/add-all.ts";
import { cloneJson } from "../../../../base/util/clone.ts";
import type { ResourceHooks } from "../../../../resources/model/definition.ts";
import type { Texts } from "../../../types/meta.ts";
import { claimSpecOf, statusOf, type VolumeStatus } from "../../../types/persistent-volume.ts";
import type { PersistentVolumeClaimSpec, TypedLocalObjectReference } from "../../../types/volume.ts";
import { asGo, type GoShape } from "../../shared-rules/go-print.ts";
import { IMMUTABLE, immutable, sameValue } from "../../shared-rules/immutable.ts";
import { hasInvalidValue } from "../../shared-rules/label-selector.ts";
import { printDifferences } from "../../shared-rules/print-differences.ts";
import { plainAmounts, roundResourceList, roundResources } from "../../shared-rules/quantities.ts";
import { isNativeResource, pushAmountErrors, wholeValue } from "../../shared-rules/resource-names.ts";
import { namesApiGroup, validateClaimSpec } from "./claim-spec-validation.ts";
import { claimWarnings } from "./volume-warnings.ts";

const CLASS_ANNOTATION = "volume.beta.kubernetes.io/storage-class";
const RESIZE_STATES = [
  "ControllerResizeInProgress",
  "ControllerResizeInfeasible",
  "NodeResizeInProgress",
  "NodeResizeInfeasible",
  "NodeResizePending",
].toSorted();

const REFERENCE: GoShape = [
  ["APIGroup", "apiGroup"],
  ["Kind", "kind", ""],
  ["Name", "name", ""],
];
const SPEC: GoShape = [
  ["AccessModes", "accessModes"],
  ["Selector", "selector"],
  [
    "Resources",
    "resources",
    { Limits: null, Requests: null },
    [
      ["Limits", "limits"],
      ["Requests", "requests"],
    ],
  ],
  ["VolumeName", "volumeName", ""],
  ["StorageClassName", "storageClassName"],
  ["VolumeMode", "volumeMode"],
  ["DataSource", "dataSource", null, REFERENCE],
  ["DataSourceRef", "dataSourceRef", null, [...REFERENCE, ["Namespace", "namespace"]]],
  ["VolumeAttributesClassName", "volumeAttributesClassName"],
];

/** Compat: `dataSource` may only refer to a PersistentVolumeClaim or VolumeSnapshot; other values are dropped. */
function isAllowedDataSource({ kind, apiGroup }: TypedLocalObjectReference): boolean {
  return kind === "PersistentVolumeClaim" ? !apiGroup : kind === "VolumeSnapshot" && apiGroup === SNAPSHOTS;
}

const SNAPSHOTS = "snapshot.storage.k8s.io";

/** Makes dataSource and dataSourceRef consistent (`NormalizeDataSources`). Changes `spec`. */
function normalizeDataSources(
  spec: PersistentVolumeClaimSpec,
  old: PersistentVolumeClaimSpec | undefined,
  features: FeatureGates,
): void {
  // Compat: a `dataSourceRef` with a namespace is dropped unless the feature gate CrossNamespaceVolumeDataSource is on.
  const isCrossing = features.enabled("CrossNamespaceVolumeDataSource");
  if (!isCrossing && spec.dataSourceRef?.namespace && !old?.dataSourceRef) delete spec.dataSourceRef;
  const { dataSource, dataSourceRef } = spec;
  const hadSource = old?.dataSource !== undefined || old?.dataSourceRef !== undefined;
  if (!hadSource && !dataSourceRef && dataSource && !isAllowedDataSource(dataSource)) {
    delete spec.dataSource;
    return;
  }
  if (dataSource && !dataSourceRef) spec.dataSourceRef = reference(dataSource);
  else if (dataSourceRef && !dataSource && !dataSourceRef.namespace) spec.dataSource = reference(dataSourceRef);
}

function reference({ apiGroup, kind = "", name = "" }: TypedLocalObjectReference): TypedLocalObjectReference {
  return { apiGroup: apiGroup ?? null, kind, name };
}

/** The spec with canonical quantities, so that equal quantities compare as equal. */
function comparable(spec: PersistentVolumeClaimSpec): JsonObject {
  const { resources = {}, ...rest } = spec;
  const { limits, requests } = resources;
  return { ...rest, resources: { limits: plainAmounts(limits), requests: plainAmounts(requests) } };
}

function changeErrors(next: KubeObject, previous: KubeObject): FieldError[] {
  const spec = cloneJson(claimSpecOf(next));
  const old = cloneJson(claimSpecOf(previous));
  const errors: FieldError[] = [];
  if (!old.volumeName) old.volumeName = spec.volumeName;
  const [annotation, oldAnnotation] = [next, previous].map(({ metadata }) => metadata.annotations?.[CLASS_ANNOTATION]);
  const { storageClassName } = spec;
  const isNewClass = old.storageClassName === undefined && storageClassName !== undefined;
  const fromAnnotation =
    isNewClass && storageClassName === oldAnnotation && (annotation === undefined || annotation === oldAnnotation);
  if (!fromAnnotation && (annotation ?? "") !== (oldAnnotation ?? "")) {
    errors.push(invalidField(`metadata.annotations.${CLASS_ANNOTATION}`, annotation ?? "", IMMUTABLE));
  }
  if (isNewClass && (oldAnnotation === undefined || storageClassName === oldAnnotation)) delete spec.storageClassName;
  if (statusOf(previous).phase === "Bound") {
    const { requests } = spec.resources ?? {};
    if (requests) requests.storage = old.resources?.requests?.storage ?? "0";
    setName(spec, old.volumeAttributesClassName);
  }
  if (!sameValue(comparable(spec), comparable(old))) {
    const difference = printDifferences(inOrder(old), inOrder(spec));
    const text = `spec is immutable after creation except resources.requests and volumeAttributesClassName for bound claims\n${difference}`;
    errors.push(forbiddenField("spec", text));
  }
  return [...errors, ...sizeErrors(next, previous), ...classErrors(claimSpecOf(next), previous)];
}

/** Frozen values keep their order when compared. */
function inOrder(spec: PersistentVolumeClaimSpec): Json {
  const shown = asGo(spec, SPEC);
  Object.freeze(shown);
  return shown;
}

function setName(spec: PersistentVolumeClaimSpec, name: string | undefined): void {
  if (name === undefined) delete spec.volumeAttributesClassName;
  else spec.volumeAttributesClassName = name;
}

const ZERO = parseQuantity("0");
const storageIn = (list: Texts | undefined): Quantity => (list?.storage ? parseQuantity(list.storage) : ZERO);

function sizeErrors(next: KubeObject, previous: KubeObject): FieldError[] {
  const size = storageIn(claimSpecOf(next).resources?.requests);
  const isSmaller = compareQuantities(size, storageIn(claimSpecOf(previous).resources?.requests)) < 0;
  if (!isSmaller || compareQuantities(size, storageIn(statusOf(previous).capacity)) > 0) return [];
  return [forbiddenField("spec.resources.requests.storage", "field can not be less than status.capacity")];
}

function classErrors(spec: PersistentVolumeClaimSpec, previous: KubeObject): FieldError[] {
  const old = claimSpecOf(previous);
  const errors = immutable(spec.volumeMode, old.volumeMode, "volumeMode");
  const { volumeAttributesClassName: name } = spec;
  const isApplied = statusOf(previous).currentVolumeAttributesClassName !== undefined;
  if (!isApplied || name === old.volumeAttributesClassName || (name ?? "") !== "") return errors;
  const what = name === undefined ? "nil" : "empty string";
  const text = `update to ${what} is forbidden when status.currentVolumeAttributesClassName is not nil`;
  return [...errors, forbiddenField("spec.volumeAttributesClassName", text)];
}

function statusErrors({ capacity = {}, allocatedResources = {}, ...status }: VolumeStatus): FieldError[] {
  const errors: FieldError[] = [];
  for (const [name, amount] of Object.entries(capacity)) pushNegative(errors, `status.capacity[${name}]`, amount);
  const states = "status.allocatedResourceStatuses";
  for (const [name, state] of Object.entries(status.allocatedResourceStatuses ?? {})) {
    addAll(errors, keyErrors(name, states));
    if (!RESIZE_STATES.includes(state)) errors.push(notSupportedField(states, name, RESIZE_STATES));
  }
  for (const [name, amount] of Object.entries(allocatedResources)) {
    const wrong = keyErrors(name, "status.allocatedResources");
    addAll(errors, wrong);
    const at = `status.allocatedResources[${name}]`;
    if (wrong.length === 0 && !pushNegative(errors, at, amount)) pushAmountErrors(errors, at, "storage", amount);
  }
  return errors;
}

function pushNegative(errors: FieldError[], path: string, amount: string): boolean {
  const whole = wholeValue(parseQuantity(amount));
  if (whole < 0n) errors.push(invalidField(path, Number(whole), "must be a valid resource quantity"));
  return whole < 0n;
}

function keyErrors(name: string, path: string): FieldError[] {
  const errors = qualifiedName(name).map((text) => invalidField(path, name, text));
  if (errors.length > 0 || !isNativeResource(name) || name === "storage") return errors;
  return [notSupportedField(path, name, ["storage"])];
}

/** PersistentVolumeClaim: a request for storage. */
export const persistentVolumeClaimHooks: ResourceHooks = {
  setDefaults(claim) {
    const spec = claimSpecOf(claim);
    spec.volumeMode ??= "Filesystem";
    roundResources(spec.resources);
    const status = statusOf(claim);
    roundResourceList(status.capacity);
    roundResourceList(status.allocatedResources);
    if (!status.phase) status.phase = "Pending";
  },
  prepare(next, previous, { subresource, features }) {
    if (!previous) next.status = { phase: "Pending" };
    if (subresource === "") normalizeDataSources(claimSpecOf(next), previous && claimSpecOf(previous), features);
    else if (!features.enabled("CSIVolumeHealth") && previous && statusOf(previous).healthStatus === undefined) {
      delete statusOf(next).healthStatus;
    }
  },
  validate(next, previous, { subresource }) {
    if (subresource === "status") return statusErrors(statusOf(next));
    const old = previous && claimSpecOf(previous);
    const errors: FieldError[] = [];
    validateClaimSpec(errors, claimSpecOf(next), "spec", {
      allowsInvalidSelectorValues: hasInvalidValue(old?.selector),
      allowsInvalidApiGroup: namesApiGroup(old),
    });
    return previous ? [...errors, ...changeErrors(next, previous)] : errors;
  },
  warn(next, _previous, { subresource }) {
    if (subresource === "status") return [];
    const text = 'deprecated since v1.8; use "storageClassName" attribute instead';
    const isOld = next.metadata.annotations?.[CLASS_ANNOTATION] !== undefined;
    const old = isOld ? [`metadata.annotations[${CLASS_ANNOTATION}]: ${text}`] : [];
    return [...old, ...claimWarnings(claimSpecOf(next), "spec")];
  },
};
