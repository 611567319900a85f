import { badRequest } from "../api/api-error.ts";
import { isObject, type Json, type JsonObject } from "../api/object.ts";
import { getMember, setMember } from "../lib/members.ts";
import { jsonTypeOf } from "./json-patch.ts";
import { withoutNulls } from "./json-values.ts";

/**
 * Merges a patch into an object: null removes a member, objects merge, everything else replaces. Throws 400 when the
 * patch is no object. Changes neither argument; the result shares with them what it took over, so clone it before
 * changing it. Compat: `isChecked` tells that fieldValidation is not Ignore; a list takes the place of the document
 * otherwise.
 */
export function mergePatch(current: Json, patch: Json, isChecked: boolean): Json {
  if (isChecked && patch !== null && !isObject(patch)) {
    const text = `json: cannot unmarshal ${jsonTypeOf(patch)} into Go value of type map[string]interface {}`;
    throw badRequest(`error decoding patch: ${text}`);
  }
  if (Array.isArray(patch)) return withoutNulls(patch);
  if (!isObject(patch)) throw badRequest("Invalid JSON Patch");
  return isObject(current) ? merge(current, patch) : withoutNulls(patch);
}

function merge(current: JsonObject, patch: JsonObject): JsonObject {
  const merged = { ...current };
  for (const [member, value] of Object.entries(patch)) {
    if (value === null || value === undefined) {
      delete merged[member];
      continue;
    }
    const before = getMember(current, member);
    if (!isObject(before)) setMember(merged, member, withoutNulls(value));
    // Compat: evanphx/json-patch keeps nulls of a list that takes the place of an object; `pruneNils` does not see
    // them.
    else setMember(merged, member, isObject(value) ? merge(before, value) : value);
  }
  return merged;
}
