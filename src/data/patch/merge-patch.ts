import { badRequest } from "../../base/api/api-error.ts";
import { isObject, type Json, type JsonObject } from "../../base/api/object.ts";
import { getMember, setMember } from "../../base/util/members.ts";
import { jsonTypeOf } from "./json-patch.ts";
import { withoutNulls } from "./json-values.ts";

/**
 * Applies a merge patch: null removes a member, objects merge, everything else replaces. Throws 400 if the patch is not
 * an object. Modifies neither argument; the result shares parts with them, so clone it before changing it. Compat:
 * `isChecked` is false if fieldValidation is Ignore; a list then replaces the document.
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
    // Compat: evanphx/json-patch keeps nulls in a list that replaces an object; `pruneNils` does not see them.
    else setMember(merged, member, isObject(value) ? merge(before, value) : value);
  }
  return merged;
}
