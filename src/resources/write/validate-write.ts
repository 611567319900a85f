import { invalid } from "../../api/api-error.ts";
import { boundedErrors } from "../../api/field-error.ts";
import type { KubeObject } from "../../api/object.ts";
import { addAll } from "../../lib/add-all.ts";
import type { WriteContext } from "../model/definition.ts";
import { showEmpties } from "./explicit-empties.ts";
import type { KindEntries } from "./kind-entries.ts";
import { validateMetadata, validateMetadataUpdate } from "./metadata-validation.ts";
import type { WriteOptions } from "./write-options.ts";

/** Throws Invalid unless the object may be stored. `current` is what it replaces. */
export function validateWrite(
  { definition, context: { catalog } }: KindEntries,
  current: KubeObject | undefined,
  context: WriteContext,
): void {
  const { object, empties } = context.draft;
  const cannotOwn = (apiVersion: string, kind: string) =>
    catalog.findKind(apiVersion, kind)?.definition.rules.cannotOwn ?? false;
  const errors = boundedErrors(() => {
    const metadata = validateMetadata(definition, object, cannotOwn);
    if (current) addAll(metadata, validateMetadataUpdate(object, current));
    const own = definition.hooks?.validate?.(object, current, context) ?? [];
    return definition.rules.metadataLast && !current && own.length > 0 ? own : [...metadata, ...own];
  });
  if (errors.length === 0) return;
  // Compat: the 422 of a kind that is stored in another group, such as Event of events.k8s.io, names that group.
  const group = definition.storage?.group ?? definition.group;
  throw invalid({ group, kind: definition.kind }, object.metadata.name ?? "", showEmpties(errors, empties));
}

/** Sends the warnings of a valid object to its client. */
export function warnOfWrite(
  { definition }: KindEntries,
  current: KubeObject | undefined,
  context: WriteContext,
  { warn }: WriteOptions,
): void {
  const { object, warnings } = context.draft;
  const own = definition.hooks?.warn?.(object, current, context) ?? [];
  if (!warn) return;
  for (const text of warnings) warn(text);
  for (const text of own) warn(text);
}
