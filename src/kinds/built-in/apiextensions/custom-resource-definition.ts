import { invalidField } from "../../../base/api/field-error.ts";
import { isObject, type Json, type JsonObject } from "../../../base/api/object.ts";
import { cloneJson } from "../../../base/util/clone.ts";
import { getMember, setMember } from "../../../base/util/members.ts";
import type { EmptyValue } from "../../../data/schema/decode-state.ts";
import type { ResourceHooks } from "../../../resources/model/definition.ts";
import { printTime } from "../../../resources/write/metadata.ts";
import {
  CLEANUP_FINALIZER,
  type CustomResourceDefinition,
  type DefinitionVersion,
  withDefinitionCondition,
} from "../../types/custom-resource-definition.ts";
import { pluralDotGroup } from "../own-names.ts";
import { withCoercedDefaults } from "./default-rules.ts";
import { definitionErrors, statusErrors } from "./definition-validation.ts";
import { definitionWarnings } from "./definition-warnings.ts";
import { convertDefinition } from "./stored-v1beta1.ts";

const storageVersion = (versions: readonly DefinitionVersion[] | null = []) =>
  versions?.find(({ storage }) => storage)?.name;

/** Upstream: `SetDefaults_CustomResourceDefinition`. */
function setDefaults(definition: CustomResourceDefinition): void {
  const { spec } = definition;
  if (!isObject(spec)) return;
  const { names } = spec;
  if (isObject(names)) {
    const { kind = "" } = names;
    if (!names.singular && kind !== "") names.singular = kind.toLowerCase();
    if (!names.listKind && kind !== "") names.listKind = `${kind}List`;
  }
  if (!isObject(spec.conversion)) spec.conversion = { strategy: "None" };
  const { service } = spec.conversion.webhook?.clientConfig ?? {};
  if (isObject(service)) service.port ??= 443;
  const { status } = definition;
  const stored = storageVersion(spec.versions);
  if (isObject(status) && (status.storedVersions ?? []).length === 0 && stored !== undefined) {
    status.storedVersions = [stored];
  }
}

/**
 * The definition with the empty lists of its schemas that are not stored: those at the roots, and each `enum`. Compat:
 * with a status subresource, an `enum` without values is rejected at the root like any other, and the error shows all
 * of them.
 */
function withEmptyLists(
  definition: CustomResourceDefinition,
  empties: readonly EmptyValue[],
): CustomResourceDefinition {
  const shown = empties.filter(({ path }) => isInSchema(path) && (path.length === ROOT_DEPTH + 1 || isEnum(path)));
  if (shown.length === 0) return definition;
  const next = cloneJson(definition);
  for (const { path, value } of shown) {
    const holder = path.slice(0, -1).reduce<Json | undefined>(memberOf, next as JsonObject);
    if (isObject(holder)) setMember(holder, String(path.at(-1)), value);
  }
  return next;
}

/** The length of the path `spec.versions[0].schema.openAPIV3Schema`. */
const ROOT_DEPTH = 5;

function isInSchema([spec, versions, , schema, root]: EmptyValue["path"]): boolean {
  return spec === "spec" && versions === "versions" && schema === "schema" && root === "openAPIV3Schema";
}

/** Whether a path is the keyword `enum`, not a property of that name. */
function isEnum(path: EmptyValue["path"]): boolean {
  return path.at(-1) === "enum" && path.at(-2) !== "properties";
}

function memberOf(value: Json | undefined, step: string | number): Json | undefined {
  if (Array.isArray(value)) return value[Number(step)];
  return isObject(value) ? getMember(value, String(step)) : undefined;
}

function coerceDefaults({ spec }: CustomResourceDefinition): void {
  if (!Array.isArray(spec?.versions)) return;
  spec.versions = spec.versions.map((version) => {
    const { openAPIV3Schema: schema } = version.schema ?? {};
    const next = isObject(schema) ? withCoercedDefaults(schema) : schema;
    return next === schema ? version : { ...version, schema: { ...version.schema, openAPIV3Schema: next } };
  });
}

/** CustomResourceDefinition: defaults, derived fields, and the finalizer that delays its deletion. */
export const definitionHooks: ResourceHooks = {
  setDefaults,
  prepare(next: CustomResourceDefinition, _previous, { subresource }) {
    if (subresource === "status") return;
    coerceDefaults(next);
    const stored = storageVersion(next.spec?.versions);
    const { storedVersions = [] } = next.status ?? {};
    if (stored === undefined || storedVersions?.includes(stored)) return;
    next.status = { ...next.status, storedVersions: [...(storedVersions ?? []), stored] };
  },
  validate(sent: CustomResourceDefinition, previous: CustomResourceDefinition | undefined, { subresource, draft }) {
    if (subresource === "status") return statusErrors(sent);
    const next = withEmptyLists(sent, draft.empties);
    const { name = "" } = next.metadata;
    const texts = previous || name === "" ? [] : pluralDotGroup(name, next);
    return [...texts.map((text) => invalidField("metadata.name", name, text)), ...definitionErrors(next, previous)];
  },
  warn(next: CustomResourceDefinition, previous: CustomResourceDefinition | undefined, { subresource }) {
    return subresource === "status" ? [] : definitionWarnings(next, previous);
  },
  /** Compat: `REST.Delete` marks the definition itself; its generation stays, and there is no grace period. */
  beginDeletion(definition: CustomResourceDefinition, now) {
    const { metadata, status } = definition;
    const finalizers = metadata.finalizers ?? [];
    if (!finalizers.includes(CLEANUP_FINALIZER)) metadata.finalizers = [...finalizers, CLEANUP_FINALIZER];
    const conditions = withDefinitionCondition(status?.conditions ?? [], {
      type: "Terminating",
      status: "True",
      lastTransitionTime: printTime(now),
      reason: "InstanceDeletionPending",
      message: "CustomResourceDefinition marked for deletion; CustomResource deletion will begin soon",
    });
    definition.status = { ...status, conditions };
  },
  convert: convertDefinition,
};
