import { isDeepStrictEqual } from "node:util";
import type { KubeObject } from "../api/object.ts";
import type { ResourceDefinition } from "./definition.ts";

/** Sets or counts `metadata.generation`: 1 at creation, one more whenever the wanted state changes. */
export function countGeneration(definition: ResourceDefinition, next: KubeObject, current?: KubeObject): void {
  const rule = definition.rules.generation;
  if (rule === undefined) return;
  if (!current) next.metadata.generation = 1;
  else if (rule === "counted" && !sameContent(next, current)) {
    next.metadata.generation = (current.metadata.generation ?? 0) + 1;
  }
}

/** Whether two objects want the same: everything but metadata and status is equal. */
function sameContent(a: KubeObject, b: KubeObject): boolean {
  return isDeepStrictEqual(content(a), content(b));
}

function content(object: KubeObject): unknown {
  const { metadata: _metadata, status: _status, apiVersion: _apiVersion, kind: _kind, ...rest } = object;
  return rest;
}
