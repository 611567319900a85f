import {
  type FieldError,
  forbiddenField,
  invalidField,
  requiredField,
  tooLongField,
} from "../../base/api/field-error.ts";
import * as names from "../../base/api/names.ts";
import type { KubeObject, ObjectMeta, OwnerReference } from "../../base/api/object.ts";
import { quote } from "../../base/go/quote.ts";
import { addAll } from "../../base/util/add-all.ts";
import type { NameRule, ResourceDefinition } from "../model/definition.ts";

const NAME_RULES: Readonly<Record<NameRule, (name: string) => string[]>> = {
  dns1123Subdomain: (name) => names.dns1123Subdomain(name, "characters"),
  dns1123Label: (name) => names.dns1123Label(name, "characters"),
  pathSegment: names.pathSegment,
  configMapKey: names.configMapKey,
  canonicalIP: () => [],
  own: () => [],
};

const STANDARD_FINALIZERS = new Set(["orphan", "foregroundDeletion", "kubernetes"]);
const MAX_ANNOTATION_BYTES = 262_144;

/** Whether a kind may not be used in ownerReferences (upstream's `BannedOwners`). */
export type CannotOwn = (apiVersion: string, kind: string) => boolean;

/** The parts of a definition that ObjectMeta validation depends on. */
type MetadataRules = Pick<ResourceDefinition, "rules" | "scope">;

/** Validates ObjectMeta of any kind. Upstream: `ValidateObjectMeta`. */
export function validateMetadata(
  definition: MetadataRules,
  object: Pick<KubeObject, "metadata">,
  cannotOwn: CannotOwn,
): FieldError[] {
  const { metadata } = object;
  const errors: FieldError[] = [];
  addAll(errors, validateName(definition, metadata));
  addAll(errors, validateNamespace(definition, metadata));
  if ((metadata.generation ?? 0) < 0) {
    errors.push(invalidField("metadata.generation", metadata.generation, "must be greater than or equal to 0"));
  }
  addAll(errors, validateLabels(metadata.labels ?? {}, "metadata.labels"));
  addAll(errors, validateAnnotations(metadata.annotations ?? {}));
  addAll(errors, validateOwners(metadata.ownerReferences ?? [], cannotOwn));
  addAll(errors, validateFinalizers(definition, metadata.finalizers ?? []));
  return errors;
}

function validateName(definition: MetadataRules, metadata: ObjectMeta): FieldError[] {
  const rule = NAME_RULES[definition.rules.nameRule ?? "dns1123Subdomain"];
  const errors: FieldError[] = [];
  if (metadata.generateName !== undefined) {
    // A generated name continues after the base, so a trailing dash is allowed.
    const base = metadata.generateName.replace(/-$/, "a");
    for (const text of rule(base)) errors.push(invalidField("metadata.generateName", metadata.generateName, text));
  }
  if (metadata.name === undefined) {
    errors.push(requiredField("metadata.name", "name or generateName is required"));
    return errors;
  }
  for (const text of rule(metadata.name)) errors.push(invalidField("metadata.name", metadata.name, text));
  // For a kind's own name rule, only that rule reports errors.
  if (definition.rules.nameRule !== "own" && rule !== names.pathSegment && errors.length === 0) {
    for (const text of names.pathSegment(metadata.name))
      errors.push(invalidField("metadata.name", metadata.name, text));
  }
  return errors;
}

function validateNamespace(definition: MetadataRules, metadata: ObjectMeta): FieldError[] {
  if (definition.scope === "Cluster") {
    return metadata.namespace ? [forbiddenField("metadata.namespace", "not allowed on this type")] : [];
  }
  if (!metadata.namespace) return [requiredField("metadata.namespace")];
  return names
    .dns1123Label(metadata.namespace)
    .map((text) => invalidField("metadata.namespace", metadata.namespace, text));
}

/** Validates a map of labels at `field`. Upstream: `ValidateLabels`. */
export function validateLabels(labels: Readonly<Record<string, string>>, field: string): FieldError[] {
  const errors: FieldError[] = [];
  for (const [key, value] of Object.entries(labels)) {
    for (const text of names.qualifiedName(key)) errors.push(invalidField(field, key, text));
    for (const text of names.labelValue(value)) errors.push(invalidField(field, value, text));
  }
  return errors;
}

function validateAnnotations(annotations: Readonly<Record<string, string>>): FieldError[] {
  const errors: FieldError[] = [];
  let bytes = 0;
  for (const [key, value] of Object.entries(annotations)) {
    for (const text of names.qualifiedName(key.toLowerCase())) {
      errors.push(invalidField("metadata.annotations", key, text));
    }
    bytes += names.byteLength(key) + names.byteLength(value);
  }
  if (bytes > MAX_ANNOTATION_BYTES) errors.push(tooLongField("metadata.annotations", MAX_ANNOTATION_BYTES));
  return errors;
}

function validateOwners(owners: readonly OwnerReference[], cannotOwn: CannotOwn): FieldError[] {
  const errors: FieldError[] = [];
  const controllers: OwnerReference[] = [];
  for (const [index, owner] of owners.entries()) {
    const field = `metadata.ownerReferences[${index}]`;
    for (const member of ["apiVersion", "kind", "name", "uid"] as const) {
      if (!owner[member]) errors.push(requiredField(`${field}.${member}`, "must not be empty"));
    }
    if (owner.apiVersion && owner.apiVersion.split("/").length > 2) {
      const text = "must be <group>/<version> or <version>";
      errors.push(invalidField(`${field}.apiVersion`, owner.apiVersion, text));
    }
    if (cannotOwn(owner.apiVersion, owner.kind)) {
      const kind = `${owner.apiVersion.includes("/") ? "" : "/"}${owner.apiVersion}, Kind=${owner.kind}`;
      errors.push(invalidField(field, owner, `${kind} is disallowed from being an owner`));
    }
    if (owner.controller === true) controllers.push(owner);
  }
  const [first, second] = controllers;
  if (first && second) {
    const pair = `${first.kind}/${first.name} and ${second.kind}/${second.name}`;
    const text = `Only one reference can have Controller set to true. Found "true" in references for ${pair}`;
    errors.push(invalidField("metadata.ownerReferences", owners, text));
  }
  return errors;
}

function validateFinalizers(definition: MetadataRules, finalizers: readonly string[]): FieldError[] {
  const errors: FieldError[] = [];
  for (const [index, finalizer] of finalizers.entries()) {
    addAll(
      errors,
      names.qualifiedName(finalizer).map((text) => invalidField("metadata.finalizers", finalizer, text)),
    );
    if (!definition.rules.freeFinalizers && !finalizer.includes("/") && !STANDARD_FINALIZERS.has(finalizer)) {
      const text = "name is neither a standard finalizer name nor is it fully qualified";
      errors.push(invalidField(`metadata.finalizers[${index}]`, finalizer, text));
    }
  }
  if (finalizers.includes("orphan") && finalizers.includes("foregroundDeletion")) {
    const text = "finalizer orphan and foregroundDeletion cannot be both set";
    errors.push(invalidField("metadata.finalizers", finalizers, text));
  }
  return errors;
}

const LOOKED_AT_AGAIN = /^metadata\.(labels|annotations|ownerReferences)\b/;

/**
 * Validates ObjectMeta in an update. Upstream: `ValidateObjectMetaUpdate`. `found`: errors that ObjectMeta validation
 * has already found. Compat: the strategy of custom resources calls `ValidateObjectMetaUpdate` once more, and each call
 * validates labels, annotations and owners. Therefore their causes are reported three times, and those of the update
 * twice.
 */
export function validateMetadataUpdate(
  next: KubeObject,
  current: KubeObject,
  found: readonly FieldError[] = [],
  isTwice = false,
): FieldError[] {
  const errors = changeErrors(next, current);
  if (!isTwice) return errors;
  const common = found.filter(({ field }) => LOOKED_AT_AGAIN.test(field));
  const again = [...common, ...common, ...errors].map((error) => ({ ...error, isRepeated: true }));
  return [...errors, ...again];
}

function changeErrors(next: KubeObject, current: KubeObject): FieldError[] {
  const errors: FieldError[] = [];
  const old = current.metadata;
  const { metadata } = next;
  for (const member of ["name", "namespace", "uid", "creationTimestamp", "deletionTimestamp"] as const) {
    if (metadata[member] !== old[member]) errors.push(immutable(member, metadata[member]));
  }
  if (metadata.deletionGracePeriodSeconds !== old.deletionGracePeriodSeconds) {
    errors.push(immutable("deletionGracePeriodSeconds", metadata.deletionGracePeriodSeconds));
  }
  if (old.deletionTimestamp !== undefined) {
    const added = (metadata.finalizers ?? []).filter((finalizer) => !(old.finalizers ?? []).includes(finalizer));
    if (added.length > 0) {
      const list = `[]string{${added.map(quote).join(", ")}}`;
      const text = `no new finalizers can be added if the object is being deleted, found new finalizers ${list}`;
      errors.push(forbiddenField("metadata.finalizers", text));
    }
  }
  return errors;
}

function immutable(member: string, value: unknown): FieldError {
  return invalidField(`metadata.${member}`, value, "field is immutable");
}
