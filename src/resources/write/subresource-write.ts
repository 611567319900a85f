import { isObject, type JsonObject, type KubeObject } from "../../base/api/object.ts";
import { cloneJson } from "../../base/util/clone.ts";
import type { ServedResource } from "../model/catalog.ts";

/** Restores everything that a write through a subresource may not change. Changes `next`. */
export function keepUntouched(
  { definition, subresources }: Pick<ServedResource, "definition" | "subresources">,
  subresource: string,
  next: KubeObject,
  current: KubeObject,
): void {
  const writes = subresources[subresource]?.writes;
  if (writes === undefined) return;
  if (writes === "object") {
    write(next, ["status"], cloneJson(current.status));
    return;
  }
  const paths = writes === "status" ? ["status"] : writes;
  const wanted = paths.map((path) => read(next, path.split(".")));
  const metadata = next.metadata;
  for (const member of Object.keys(next)) if (!Object.hasOwn(current, member)) delete next[member];
  Object.assign(next, cloneJson(current));
  write(next.metadata, ["managedFields"], metadata.managedFields);
  const { statusKeepsMetadata: keeps = [] } = definition.rules;
  if (writes === "status" && keeps !== true) {
    next.metadata = metadata;
    for (const member of keeps === false ? [] : keeps) {
      write(metadata, [member], cloneJson(current.metadata[member]));
    }
  }
  // managedFields have already been updated for this write.
  write(next.metadata, ["managedFields"], metadata.managedFields);
  for (const [index, path] of paths.entries()) write(next, path.split("."), wanted[index]);
}

/** Sets a member of an object. Undefined removes it. */
export function setMember(object: JsonObject, member: string, value: JsonObject[string]): void {
  write(object, [member], value);
}

function read(object: JsonObject, [member = "", ...rest]: readonly string[]): JsonObject[string] {
  const value = object[member];
  return rest.length > 0 && isObject(value) ? read(value, rest) : value;
}

function write(object: JsonObject, [member = "", ...rest]: readonly string[], value: JsonObject[string]): void {
  if (rest.length === 0) {
    if (value === undefined) delete object[member];
    else object[member] = value;
    return;
  }
  const inner = object[member];
  if (isObject(inner)) write(inner, rest, value);
  else if (value !== undefined) {
    const made: JsonObject = {};
    object[member] = made;
    write(made, rest, value);
  }
}
