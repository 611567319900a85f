import {
  type FieldError,
  forbiddenField,
  invalidField,
  notSupportedField,
  requiredField,
} from "../../../../base/api/field-error.ts";
import type { ObjectMeta } from "../../../../base/api/object.ts";
import { parseQuantity } from "../../../../base/api/quantity.ts";
import { addAll } from "../../../../base/util/add-all.ts";
import { validateLabels } from "../../../../resources/write/metadata-validation.ts";
import type {
  PersistentVolumeClaimSpec,
  PersistentVolumeClaimTemplate,
  TypedObjectReference,
} from "../../../types/volume.ts";
import { labelName, pushInvalid, subdomainName } from "../../shared-rules/formats.ts";
import { validateLabelSelector } from "../../shared-rules/label-selector.ts";
import { pushAnnotationErrors } from "../../shared-rules/metadata.ts";
import { pushAmountErrors } from "../../shared-rules/resource-names.ts";

const ACCESS_MODES = ["ReadOnlyMany", "ReadWriteMany", "ReadWriteOnce", "ReadWriteOncePod"];
/** The values of volumeMode. */
export const VOLUME_MODES = ["Block", "Filesystem"];

/**
 * What is tolerated because the stored PersistentVolumeClaim has it. Upstream:
 * `PersistentVolumeClaimSpecValidationOptions`.
 */
export interface ClaimOptions {
  readonly allowsInvalidSelectorValues?: boolean;
  readonly allowsInvalidApiGroup?: boolean;
}

/** Validates `ephemeral.volumeClaimTemplate` of a volume. */
export function validateClaimTemplate(
  errors: FieldError[],
  template: PersistentVolumeClaimTemplate,
  path: string,
): void {
  const metadata = template.metadata ?? {};
  pushAnnotationErrors(errors, `${path}.metadata.annotations`, metadata.annotations);
  addAll(errors, validateLabels(metadata.labels ?? {}, `${path}.metadata.labels`));
  checkTemplateMetadata(errors, metadata, `${path}.metadata`);
  validateClaimSpec(errors, template.spec ?? {}, `${path}.spec`);
}

const UNSETTABLE = [
  "name",
  "generateName",
  "namespace",
  "selfLink",
  "uid",
  "resourceVersion",
  "generation",
  "creationTimestamp",
  "deletionTimestamp",
  "deletionGracePeriodSeconds",
  "ownerReferences",
  "finalizers",
  "managedFields",
];

function checkTemplateMetadata(errors: FieldError[], metadata: ObjectMeta, path: string): void {
  for (const member of UNSETTABLE) {
    if ((metadata[member] ?? undefined) === undefined) continue;
    // Compat: upstream builds paths by lowercasing the first letter of the Go name, so UID becomes `uID`.
    errors.push(forbiddenField(`${path}.${member === "uid" ? "uID" : member}`, "cannot be set"));
  }
}

/** Validates a PersistentVolumeClaimSpec. */
export function validateClaimSpec(
  errors: FieldError[],
  spec: PersistentVolumeClaimSpec,
  path: string,
  options: ClaimOptions = {},
): void {
  const { storageClassName = "", volumeMode, volumeAttributesClassName = "" } = spec;
  if ((spec.accessModes ?? []).length === 0) {
    errors.push(requiredField(`${path}.accessModes`, "at least 1 access mode is required"));
  }
  const allowsInvalidValues = options.allowsInvalidSelectorValues;
  addAll(errors, validateLabelSelector(spec.selector, `${path}.selector`, { allowsInvalidValues }));
  addAll(errors, accessModeErrors(spec.accessModes ?? [], `${path}.accessModes`));
  checkStorage(errors, spec.resources?.requests?.storage, `${path}.resources[storage]`);
  if (storageClassName !== "") {
    pushInvalid(errors, `${path}.storageClassName`, storageClassName, subdomainName(storageClassName));
  }
  if (volumeMode !== undefined && !VOLUME_MODES.includes(volumeMode)) {
    errors.push(notSupportedField(`${path}.volumeMode`, volumeMode, VOLUME_MODES));
  }
  checkDataSources(errors, spec, path, options);
  if (volumeAttributesClassName !== "") {
    const texts = subdomainName(volumeAttributesClassName);
    pushInvalid(errors, `${path}.volumeAttributesClassName`, volumeAttributesClassName, texts);
  }
}

/** Validates accessModes. */
export function accessModeErrors(modes: readonly string[], path: string): FieldError[] {
  const errors: FieldError[] = [];
  for (const mode of modes) {
    if (!ACCESS_MODES.includes(mode)) errors.push(notSupportedField(path, mode, ACCESS_MODES));
  }
  const known = modes.filter((mode) => ACCESS_MODES.includes(mode));
  if (known.includes("ReadWriteOncePod") && known.some((mode) => mode !== "ReadWriteOncePod")) {
    errors.push(forbiddenField(path, "may not use ReadWriteOncePod with other access modes"));
  }
  return errors;
}

function checkStorage(errors: FieldError[], storage: string | undefined, path: string): void {
  if (storage === undefined) errors.push(requiredField(path));
  else if (parseQuantity(storage).mantissa <= 0n) errors.push(invalidField(path, storage, "must be greater than zero"));
  else pushAmountErrors(errors, path, "storage", storage);
}

function checkDataSources(
  errors: FieldError[],
  { dataSource, dataSourceRef }: PersistentVolumeClaimSpec,
  path: string,
  options: ClaimOptions,
): void {
  if (dataSource) checkDataSource(errors, dataSource, `${path}.dataSource`, options);
  if (dataSourceRef) checkDataSource(errors, dataSourceRef, `${path}.dataSourceRef`, options);
  if (!dataSource || !dataSourceRef) return;
  if ((dataSourceRef.namespace ?? "") !== "") {
    errors.push(invalidField(path, {}, "may not be specified when dataSourceRef.namespace is specified"));
  } else if (
    dataSource.apiGroup !== dataSourceRef.apiGroup ||
    dataSource.kind !== dataSourceRef.kind ||
    dataSource.name !== dataSourceRef.name
  ) {
    errors.push(invalidField(path, {}, "must match dataSourceRef"));
  }
}

function checkDataSource(
  errors: FieldError[],
  { name = "", kind = "", apiGroup: group, namespace = "" }: TypedObjectReference,
  path: string,
  { allowsInvalidApiGroup = false }: ClaimOptions,
): void {
  // A missing apiGroup is written as null.
  const apiGroup = group ?? "";
  if (name === "") errors.push(requiredField(`${path}.name`));
  if (kind === "") errors.push(requiredField(`${path}.kind`));
  if (apiGroup === "" && kind !== "PersistentVolumeClaim") {
    const text = "must be 'PersistentVolumeClaim' when referencing the default apiGroup";
    errors.push(invalidField(path, kind, text));
  }
  if (apiGroup !== "" && !allowsInvalidApiGroup) {
    pushInvalid(errors, `${path}.apiGroup`, apiGroup, subdomainName(apiGroup));
  }
  if (namespace !== "") pushInvalid(errors, `${path}.namespace`, namespace, labelName(namespace));
}

/**
 * Compat: once a stored claim has an apiGroup in dataSource or dataSourceRef, its format is not validated
 * (`AllowInvalidAPIGroupInDataSourceOrRef`).
 */
export function namesApiGroup(spec: PersistentVolumeClaimSpec | undefined): boolean {
  return [spec?.dataSource, spec?.dataSourceRef].some((source) => typeof source?.apiGroup === "string");
}
