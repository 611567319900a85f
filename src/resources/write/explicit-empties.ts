import type { FieldError } from "../../api/field-error.ts";
import { apiVersionOf, isObject, type KubeObject } from "../../api/object.ts";
import { decodeBySchema } from "../../schema/decode.ts";
import { type EmptyValue, printPath } from "../../schema/decode-state.ts";
import { convertObject } from "../model/conversion.ts";
import type { ResourceDefinition } from "../model/definition.ts";

/**
 * Compat: to kube-apiserver `[]` and `{}` that a client sends differ from nil until the object is stored. Defaults,
 * conversions and managedFields see the difference; validation is told by `WriteContext.empties`.
 */
const marked = new WeakSet<KubeObject>();
const NONE: readonly EmptyValue[] = [];

/** Says that an object holds lists or maps which its client sent empty. */
export function markEmpties(object: KubeObject): void {
  marked.add(object);
}

/** A copy says what the original says. */
export function copyMark(original: KubeObject, copy: KubeObject): void {
  if (marked.has(original)) marked.add(copy);
}

/**
 * The object in the version that it is stored in, without empty lists and maps, and where these were. `stored` is what a
 * write replaces.
 */
export function toStoredForm(
  definition: ResourceDefinition,
  object: KubeObject,
  apiVersion: string,
  stored?: KubeObject,
): { readonly next: KubeObject; readonly empties: readonly EmptyValue[] } {
  if (!marked.has(object)) return { next: convertObject(definition, object, apiVersion, stored), empties: NONE };
  const isOwn = definition.versions.some(({ name }) => apiVersion === apiVersionOf(definition.group, name));
  if (isOwn) return withoutEmpties(definition, convertObject(definition, object, apiVersion, stored));
  const { next, empties } = withoutEmpties(definition, object);
  return { next: convertObject(definition, next, apiVersion, stored), empties };
}

/** Errors about what was sent empty, with that shown as it was sent. */
export function showEmpties(
  errors: readonly FieldError[],
  empties: readonly EmptyValue[] = NONE,
): readonly FieldError[] {
  if (empties.length === 0) return errors;
  const values = new Map(empties.map(({ path, value }) => [printPath(path), JSON.stringify(value)]));
  return errors.map((error) => {
    const value = values.get(error.field);
    const message = value === undefined ? error.message : error.message.replace(NOTHING, `$1 ${value}`);
    return message === error.message ? error : { ...error, message };
  });
}

const NOTHING = /^(Invalid value:|Unsupported value:) null/;

function withoutEmpties(definition: ResourceDefinition, object: KubeObject) {
  const version = definition.versions.find(({ name }) => object.apiVersion === apiVersionOf(definition.group, name));
  const { value, empties } = decodeBySchema(object, version?.schema() ?? {});
  const { kind: _kind, apiVersion: _version, metadata, ...rest } = value;
  const { kind, apiVersion } = object;
  return { next: { kind, apiVersion, metadata: isObject(metadata) ? metadata : {}, ...rest } as KubeObject, empties };
}
