import type { Json, KubeObject } from "../../../base/api/object.ts";
import { cloneJson } from "../../../base/util/clone.ts";
import type { WriteContext } from "../../../resources/model/definition.ts";

/** Whether the client sent an empty list or map at a path such as `spec.devices`. */
export function isSentEmpty({ draft }: WriteContext, path: string): boolean {
  return draft.empties.some((empty) => empty.path.join(".") === path);
}

/** A copy of the object with the empty lists and maps that the client sent, for `field.Error`s that show them. */
export function asSent(object: KubeObject, { draft: { empties } }: WriteContext): KubeObject {
  if (empties.length === 0) return object;
  const copy = cloneJson(object);
  for (const { path, value } of empties) {
    let holder: Json | undefined = copy;
    for (const step of path.slice(0, -1)) holder = memberOf(holder, step);
    const last = path.at(-1);
    if (typeof holder === "object" && holder !== null && typeof last === "string") {
      (holder as Record<string, Json>)[last] = value;
    }
  }
  return copy;
}

function memberOf(value: Json | undefined, step: string | number): Json | undefined {
  if (typeof value !== "object" || value === null) return undefined;
  return (value as Record<string | number, Json>)[step];
}
