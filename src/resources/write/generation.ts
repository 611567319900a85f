import { isDeepStrictEqual } from "node:util";
import type { KubeObject } from "../../base/api/object.ts";
import type { EmptyValue } from "../../data/schema/decode-state.ts";
import type { ResourceDefinition } from "../model/definition.ts";

/**
 * Sets or increments `metadata.generation`: 1 at creation, one more whenever the desired state changes. `empties`:
 * values that the client sent empty.
 */
export function countGeneration(
  definition: ResourceDefinition,
  next: KubeObject,
  current?: KubeObject,
  empties: readonly EmptyValue[] = [],
): void {
  const { generation: rule, countsEmpties = false } = definition.rules;
  if (rule === undefined) return;
  if (!current) next.metadata.generation = 1;
  else if (rule === "fixed") return;
  else if (
    !sameContent(next, current, definition.reading === "structural") ||
    (countsEmpties && empties.some(isContent))
  ) {
    next.metadata.generation = (current.metadata.generation ?? 0) + 1;
  }
}

const isContent = ({ path: [member] }: EmptyValue): boolean => member !== "metadata" && member !== "status";

/**
 * Whether two objects have the same desired state: everything but metadata and status is equal. Compat: the status of a
 * custom object counts, too (`copyNonMetadata`); if it is a subresource, the write has not changed it.
 */
function sameContent(a: KubeObject, b: KubeObject, countsStatus: boolean): boolean {
  return isDeepStrictEqual(content(a), content(b)) && (!countsStatus || isDeepStrictEqual(a.status, b.status));
}

function content(object: KubeObject): unknown {
  const { metadata: _metadata, status: _status, apiVersion: _apiVersion, kind: _kind, ...rest } = object;
  return rest;
}
