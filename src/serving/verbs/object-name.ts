import { badRequest } from "../../base/api/api-error.ts";
import type { ObjectMeta } from "../../base/api/object.ts";

/** Throws BadRequest unless the object's name matches the URL. */
export function checkName(metadata: ObjectMeta, name: string): void {
  if (metadata.name === undefined) {
    throw badRequest(`the name of the object (${name} based on URL) was undeterminable: name must be provided`);
  }
  if (metadata.name !== name) {
    throw badRequest(`the name of the object (${metadata.name}) does not match the name on the URL (${name})`);
  }
}
