import type { FieldError } from "../../base/api/field-error.ts";
import { apiVersionOf, isObject, type KubeObject } from "../../base/api/object.ts";

import { type Eventually, proceed } from "../../base/util/eventually.ts";
import { type EmptyValue, printPath } from "../../data/schema/decode-state.ts";
import { convertEventually, convertObject } from "../model/conversion.ts";
import type { ResourceDefinition } from "../model/definition.ts";
import { Draft } from "../model/draft.ts";
import { strategyOf } from "../strategies/strategy-of.ts";

/**
 * Converts a draft to its stored version, without empty lists and maps; `empties` records where these were. `stored`:
 * the object that a write replaces.
 */
export function toStoredForm(
  definition: ResourceDefinition,
  { object, holdsEmpties, creatorFields }: Draft,
  apiVersion: string,
  stored?: KubeObject,
): Eventually<Draft> {
  if (!holdsEmpties) {
    const next = convertEventually(definition, object, apiVersion, stored);
    return proceed(next, (converted) => new Draft(converted, { creatorFields }));
  }
  const isOwn = definition.versions.some(({ name }) => apiVersion === apiVersionOf(definition.group, name));
  if (isOwn) {
    const { next, empties } = withoutEmpties(definition, convertObject(definition, object, apiVersion, stored));
    return new Draft(next, { empties, creatorFields });
  }
  const { next, empties } = withoutEmpties(definition, object);
  return new Draft(convertObject(definition, next, apiVersion, stored), { empties, creatorFields });
}

/** Errors in which values that were sent empty are shown as sent. */
export function showEmpties(errors: readonly FieldError[], empties: readonly EmptyValue[]): readonly FieldError[] {
  if (empties.length === 0) return errors;
  const values = new Map(empties.map(({ path, value }) => [printPath(path), JSON.stringify(value)]));
  return errors.map((error) => {
    const value = error.hidesValue ? undefined : values.get(error.field);
    const message = value === undefined ? error.message : error.message.replace(NOTHING, `$1 ${value}`);
    return message === error.message ? error : { ...error, message };
  });
}

const NOTHING = /^(Invalid value:|Unsupported value:) null/;

function withoutEmpties(definition: ResourceDefinition, object: KubeObject) {
  const version = definition.versions.find(({ name }) => object.apiVersion === apiVersionOf(definition.group, name));
  const { value, empties } = strategyOf(definition).decode(object, version?.schema() ?? {});
  const { kind: _kind, apiVersion: _version, metadata, ...rest } = value;
  const { kind, apiVersion } = object;
  return { next: { kind, apiVersion, metadata: isObject(metadata) ? metadata : {}, ...rest } as KubeObject, empties };
}
