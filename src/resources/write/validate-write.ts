import { invalid } from "../../base/api/api-error.ts";
import { boundedErrors, type FieldError } from "../../base/api/field-error.ts";
import type { KubeObject } from "../../base/api/object.ts";
import { addAll } from "../../base/util/add-all.ts";
import { versionIn } from "../model/conversion.ts";
import type { ResourceDefinition, WriteContext } from "../model/definition.ts";
import { strategyOf } from "../strategies/strategy-of.ts";
import { showEmpties } from "./explicit-empties.ts";
import type { KindEntries } from "./kind-entries.ts";
import { validateMetadata, validateMetadataUpdate } from "./metadata-validation.ts";
import type { WriteOptions } from "./write-options.ts";

/** Throws Invalid unless the object may be stored. `current`: the object it replaces. */
export function validateWrite(
  { definition, context: { catalog } }: KindEntries,
  current: KubeObject | undefined,
  context: WriteContext,
  { warn = () => undefined }: WriteOptions,
): void {
  const { object, empties } = context.draft;
  const cannotOwn = (apiVersion: string, kind: string) =>
    catalog.findKind(apiVersion, kind)?.definition.rules.cannotOwn ?? false;
  const errors = boundedErrors(() => {
    const metadata = validateMetadata(definition, object, cannotOwn);
    if (current)
      addAll(metadata, validateMetadataUpdate(object, current, metadata, definition.reading === "structural"));
    const own = bySchema(definition, object, current, { subresource: context.subresource, warn });
    addAll(own, definition.hooks?.validate?.(object, current, context) ?? []);
    return definition.rules.metadataLast && !current && own.length > 0 ? own : [...metadata, ...own];
  });
  if (errors.length === 0) return;
  // Compat: the 422 of a kind stored in another group, such as Event of events.k8s.io, names that group.
  const group = definition.storage?.group ?? definition.group;
  throw invalid({ group, kind: definition.kind }, object.metadata.name ?? "", showEmpties(errors, empties));
}

/**
 * Validates an object against the `openAPIV3Schema` of a custom kind, in the client's version. Upstream:
 * `customResourceStrategy.Validate`.
 */
function bySchema(
  definition: ResourceDefinition,
  next: KubeObject,
  current: KubeObject | undefined,
  write: { readonly subresource: string; warn(text: string): void },
): FieldError[] {
  const { validate } = strategyOf(definition);
  const version = validate && versionIn(definition, next.apiVersion);
  return version ? validate(version, next, current, write) : [];
}

/** Reports the warnings of a valid object. */
export function warnOfWrite(
  { definition }: KindEntries,
  current: KubeObject | undefined,
  context: WriteContext,
  { warn }: WriteOptions,
): void {
  const { object, warnings } = context.draft;
  const own = strategyOf(definition).warn?.(object, current, context.subresource) ?? [];
  addAll(own, definition.hooks?.warn?.(object, current, context) ?? []);
  if (!warn) return;
  for (const text of warnings) warn(text);
  for (const text of own) warn(text);
}
