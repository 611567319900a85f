import { type FieldError, invalidField, notSupportedField, requiredField } from "../../../base/api/field-error.ts";
import { dns1035Label, dns1123Subdomain } from "../../../base/api/names.ts";
import type { Json } from "../../../base/api/object.ts";
import { addAll } from "../../../base/util/add-all.ts";
import { currentMeter } from "../../../base/util/meter.ts";
import { countMembers } from "../../../data/encoding/json/json-scan.ts";
import {
  type CustomResourceDefinition,
  type DefinitionSpec,
  type DefinitionVersion,
  isDefinitionCondition,
} from "../../types/custom-resource-definition.ts";
import { immutable } from "../shared-rules/immutable.ts";
import { approvalErrors } from "./api-approval.ts";
import { type DefinitionOptions, optionsFor } from "./definition-options.ts";
import {
  columnErrors,
  conversionErrors,
  deprecationTexts,
  namesErrors,
  selectableErrors,
  subresourcesErrors,
} from "./definition-parts.ts";
import { goVersions } from "./go-schema.ts";
import { type InternalSpec, internalForm } from "./internal-form.ts";
import { schemaErrors } from "./schema-validation.ts";
import { anySchemaHas } from "./schema-walk.ts";

/** What all checks of one member of a schema take together, in units of the meter. */
const UNITS_PER_MEMBER = 60;

/**
 * Validates a definition, except its metadata. Upstream: `ValidateCustomResourceDefinition` and
 * `ValidateCustomResourceDefinitionUpdate`.
 */
export function definitionErrors(next: CustomResourceDefinition, previous?: CustomResourceDefinition): FieldError[] {
  const { status = {} } = next;
  // A list without omitempty is null if it is empty.
  const spec = { ...next.spec, versions: next.spec?.versions ?? [] };
  const meter = currentMeter();
  for (const { schema } of spec.versions) meter.charge(countMembers((schema ?? null) as Json) * UNITS_PER_MEMBER);
  const errors = specErrors(spec, optionsFor(next, previous));
  if (previous) addAll(errors, immutableErrors(spec, previous));
  addAll(errors, statusErrors(next));
  addAll(errors, storedVersionErrors(status.storedVersions ?? [], spec.versions));
  addAll(errors, approvalErrors(next, previous));
  if (spec.preserveUnknownFields && !previous?.spec?.preserveUnknownFields) {
    const text =
      "cannot set to true, set x-kubernetes-preserve-unknown-fields to true in spec.versions[*].schema instead";
    errors.push(invalidField("spec.preserveUnknownFields", true, text));
  }
  return errors;
}

/** Upstream: `ValidateCustomResourceDefinitionStatus`. */
export function statusErrors({ status }: CustomResourceDefinition): FieldError[] {
  return namesErrors(status?.acceptedNames ?? {}, "status.acceptedNames");
}

function immutableErrors({ scope, names, group }: DefinitionSpec, previous: CustomResourceDefinition): FieldError[] {
  const old = previous.spec ?? {};
  const isEstablished = isDefinitionCondition(previous, "Established");
  return [
    ...(isEstablished ? immutable(scope, old.scope, "spec.scope") : []),
    ...(isEstablished ? immutable(names?.kind, old.names?.kind, "spec.names.kind") : []),
    ...immutable(group, old.group, "spec.group"),
    ...immutable(names?.plural, old.names?.plural, "spec.names.plural"),
  ];
}

/** Upstream: `ValidateCustomResourceDefinitionStoredVersions`. */
function storedVersionErrors(stored: readonly string[], versions: readonly DefinitionVersion[]): FieldError[] {
  const path = "status.storedVersions";
  if (stored.length === 0) {
    return [invalidField(path, null, "must have at least one stored version")];
  }
  const errors: FieldError[] = [];
  const missing = new Map(stored.map((version, index) => [version, index]));
  for (const { name = "", storage } of versions) {
    if (storage && !missing.has(name)) errors.push(invalidField(path, stored, `must have the storage version ${name}`));
    missing.delete(name);
  }
  for (const [version, index] of missing) {
    const text = `missing from spec.versions; ${version} was previously a storage version, and must remain in spec.versions until a storage migration ensures no data remains persisted in ${version} and removes ${version} from status.storedVersions`;
    errors.push(invalidField(`${path}[${index}]`, version, text));
  }
  return errors;
}

const SCOPES = ["Cluster", "Namespaced"];

function specErrors(spec: DefinitionSpec, given: DefinitionOptions): FieldError[] {
  const { group = "", scope = "", names = {}, preserveUnknownFields = false } = spec;
  const errors: FieldError[] = [];
  const groupTexts = group === "" ? [] : dns1123Subdomain(group, "bytes");
  if (group === "") errors.push(requiredField("spec.group"));
  else if (groupTexts.length > 0) errors.push(invalidField("spec.group", group, groupTexts.join(",")));
  else if (!group.includes(".")) {
    errors.push(invalidField("spec.group", group, "should be a domain with at least one dot"));
  }
  if (scope === "") errors.push(requiredField("spec.scope"));
  else if (!SCOPES.includes(scope)) errors.push(notSupportedField("spec.scope", scope, SCOPES));
  const internal = internalForm(spec);
  addAll(errors, missingSchemas(spec, given));
  const hasDefaults = anySchemaHas(spec, (schema) => schema.default !== undefined);
  if (hasDefaults && preserveUnknownFields) {
    const text = "must be false in order to use defaults in the schema";
    errors.push(invalidField("spec.preserveUnknownFields", true, text));
  }
  const requiresStructural =
    given.requiresStructural || !preserveUnknownFields || hasDefaults || anySchemaHas(spec, hasExtension);
  const options = { ...given, requiresStructural };
  for (const [index, version] of internal.versions.entries()) {
    addAll(errors, versionErrors(version, `spec.versions[${index}]`, internal, options));
  }
  addAll(errors, versionListErrors(internal.versions));
  for (const member of ["plural", "singular", "kind", "listKind"] as const) {
    if (!names[member]) errors.push(requiredField(`spec.names.${member}`));
  }
  addAll(errors, namesErrors(names, "spec.names"));
  addAll(errors, sharedErrors(spec, internal, options));
  const { strategy = "" } = spec.conversion ?? {};
  if (spec.conversion && strategy !== "None" && preserveUnknownFields) {
    const text = "must be None if spec.preserveUnknownFields is true";
    errors.push(invalidField("spec.conversion.strategy", strategy, text));
  }
  addAll(errors, conversionErrors(spec.conversion, "spec.conversion", options));
  return errors;
}

const EXTENSIONS = [
  "x-kubernetes-embedded-resource",
  "x-kubernetes-preserve-unknown-fields",
  "x-kubernetes-int-or-string",
  "x-kubernetes-list-map-keys",
  "x-kubernetes-list-type",
  "x-kubernetes-validations",
];

function hasExtension(schema: Readonly<Record<string, unknown>>): boolean {
  return EXTENSIONS.some((extension) => schema[extension] !== undefined);
}

function missingSchemas(
  { versions = [], preserveUnknownFields }: DefinitionSpec,
  options: DefinitionOptions,
): FieldError[] {
  const errors: FieldError[] = [];
  for (const [index, { schema, served }] of versions.entries()) {
    if (schema?.openAPIV3Schema) continue;
    const path = `spec.versions[${index}].schema.openAPIV3Schema`;
    if (options.requiresSchema) errors.push(requiredField(path));
    else if (!preserveUnknownFields && served) {
      errors.push(requiredField(path, "because otherwise all fields are pruned"));
    }
  }
  return errors;
}

function versionErrors(
  version: DefinitionVersion,
  path: string,
  { shared, versions }: InternalSpec,
  options: DefinitionOptions,
): FieldError[] {
  const { name = "", deprecated = false, deprecationWarning, schema, selectableFields = [] } = version;
  const errors: FieldError[] = [];
  const texts = dns1035Label(name);
  if (texts.length > 0) errors.push(invalidField(`${path}.name`, name, texts.join(",")));
  for (const text of deprecationTexts(deprecated, deprecationWarning)) {
    errors.push(invalidField(`${path}.deprecationWarning`, deprecationWarning, text));
  }
  const hasOwn = versions.some(({ subresources }) => subresources);
  const { status } = (hasOwn ? version.subresources : shared.subresources) ?? {};
  addAll(errors, schemaErrors(schema?.openAPIV3Schema, status !== undefined, `${path}.schema`, options, name));
  addAll(errors, subresourcesErrors(version.subresources, `${path}.subresources`));
  for (const [index, column] of (version.additionalPrinterColumns ?? []).entries()) {
    addAll(errors, columnErrors(column, `${path}.additionalPrinterColumns[${index}]`));
  }
  if (selectableFields.length === 0) return errors;
  const at = `${path}.selectableFields`;
  if (!schema?.openAPIV3Schema) {
    const text = "may only be set when `version.schema.openAPIV3Schema` is not included";
    errors.push(invalidField(at, "", text));
  } else {
    const allowsMany = options.allowsManySelectable(name);
    addAll(errors, selectableErrors(selectableFields, schema.openAPIV3Schema, at, allowsMany));
  }
  return errors;
}

function versionListErrors(versions: readonly DefinitionVersion[]): FieldError[] {
  const errors: FieldError[] = [];
  const path = "spec.versions";
  const names = new Set(versions.map(({ name }) => name));
  if (names.size < versions.length) {
    errors.push(invalidField(path, goVersions(versions), "must contain unique version names"));
  }
  if (versions.filter(({ storage }) => storage).length !== 1) {
    const text = "must have exactly one version marked as storage version";
    errors.push(invalidField(path, goVersions(versions), text));
  }
  const [{ name = "" }] = versions[0] ? [versions[0]] : [{ name: "" }];
  const texts = name === "" ? [] : dns1035Label(name);
  if (texts.length > 0) errors.push(invalidField("spec.version", name, texts.join(",")));
  return errors;
}

/** Validates the parts that all versions share. */
function sharedErrors(
  spec: DefinitionSpec,
  { shared, versions }: InternalSpec,
  options: DefinitionOptions,
): FieldError[] {
  const { schema, subresources, additionalPrinterColumns = [], selectableFields = [] } = shared;
  const hasStatus = [shared, ...versions].some((one) => one.subresources?.status !== undefined);
  const errors = schemaErrors(schema?.openAPIV3Schema, hasStatus, "spec.validation", options, versions[0]?.name ?? "");
  addAll(errors, subresourcesErrors(subresources, "spec.subresources"));
  for (const [index, column] of additionalPrinterColumns.entries()) {
    addAll(errors, columnErrors(column, `spec.additionalPrinterColumns[${index}]`));
  }
  if (selectableFields.length === 0) return errors;
  if (!schema && spec.versions) {
    errors.push(invalidField("spec.selectableFields", "", "may only be set when validations.schema is included"));
  } else {
    const root = schema?.openAPIV3Schema;
    addAll(errors, selectableErrors(selectableFields, root, "spec.selectableFields", options.allowsManySelectable("")));
  }
  return errors;
}
