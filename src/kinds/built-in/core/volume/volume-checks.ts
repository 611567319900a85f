import { type FieldError, invalidField, requiredField } from "../../../../base/api/field-error.ts";
import type { JsonObject } from "../../../../base/api/object.ts";
import type { KeyToPath } from "../../../types/container.ts";
import { pushOwnFileErrors } from "../../shared-rules/file-paths.ts";
import { accountNumber, inRange, pushInvalid } from "../../shared-rules/formats.ts";

/** Validates mode and defaultMode of files in a volume. */
export function checkMode(errors: FieldError[], mode: number | undefined, path: string): void {
  if (mode === undefined || inRange(mode, 0, 0o777).length === 0) return;
  errors.push(invalidField(path, mode, "must be a number between 0 and 0777 (octal), both inclusive"));
}

/** Validates the user that owns files in a volume. */
export function checkOwner(errors: FieldError[], owner: number | undefined, path: string): void {
  if (owner !== undefined) pushInvalid(errors, path, owner, accountNumber(owner));
}

/** Rejects required string fields that are missing or empty. */
export function checkRequired(
  errors: FieldError[],
  object: JsonObject,
  path: string,
  members: readonly string[],
): void {
  for (const member of members) if (isEmpty(object[member])) errors.push(requiredField(`${path}.${member}`));
}

function isEmpty(value: unknown): boolean {
  return value === undefined || value === null || value === "" || (Array.isArray(value) && value.length === 0);
}

/** Validates a KeyToPath. */
export function checkKeyToPath(errors: FieldError[], item: KeyToPath, path: string): void {
  checkRequired(errors, item, path, ["key", "path"]);
  pushOwnFileErrors(errors, `${path}.path`, item.path ?? "");
  checkMode(errors, item.mode, `${path}.mode`);
  checkOwner(errors, item.user, `${path}.user`);
}
