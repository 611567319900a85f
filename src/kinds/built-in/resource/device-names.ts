import { type FieldError, invalidField, requiredField, tooLongField } from "../../../base/api/field-error.ts";
import { byteLength } from "../../../base/api/names.ts";
import { isObject, type Json } from "../../../base/api/object.ts";
import { addAll } from "../../../base/util/add-all.ts";
import { checkDriverName } from "../core/volume/volume-source-validation.ts";
import { cIdentifier } from "../shared-rules/declared-formats.ts";
import { labelName, subdomainName } from "../shared-rules/formats.ts";

const MAX_IDENTIFIER = 32;
const MAX_POOL_NAME = 253;

/** Validates the name of a DeviceRequest, Device or counter: a DNS label. */
export function labelErrors(name: string, path: string): FieldError[] {
  return labelName(name).map((text) => invalidField(path, name, text));
}

/** Validates the name of a DRA driver. */
export function driverErrors(name: string, path: string): FieldError[] {
  const errors: FieldError[] = [];
  checkDriverName(errors, name, path);
  return errors;
}

/** Validates the name of a resource pool: DNS subdomains separated by slashes. */
export function poolErrors(name: string, path: string): FieldError[] {
  if (name === "") return [requiredField(path)];
  const errors = byteLength(name) > MAX_POOL_NAME ? [tooLongField(path, MAX_POOL_NAME)] : [];
  for (const part of name.split("/")) {
    addAll(
      errors,
      subdomainName(part).map((text) => invalidField(path, part, text)),
    );
  }
  return errors;
}

function identifierErrors(name: string, path: string): FieldError[] {
  const errors = byteLength(name) > MAX_IDENTIFIER ? [tooLongField(path, MAX_IDENTIFIER)] : [];
  return [...errors, ...cIdentifier(name).map((text) => invalidField(path, name, text))];
}

/** Validates the QualifiedName of a device attribute or capacity: a C identifier, with or without a domain. */
export function attributeNameErrors(name: string, path: string): FieldError[] {
  const parts = name.split("/");
  const [first = "", second = ""] = parts;
  if (parts.length === 1) return identifierErrors(first, path);
  // Compat: `validateQualifiedName` has no case for more than one slash and accepts it.
  if (parts.length > 2) return [];
  return [
    ...(first === "" ? [invalidField(path, "", "the domain must not be empty")] : driverErrors(first, path)),
    ...(second === "" ? [invalidField(path, "", "the name must not be empty")] : identifierErrors(second, path)),
  ];
}

/** Validates a RawExtension: a JSON object of limited size. */
export function parameterErrors(parameters: Json | undefined, path: string, maxBytes: number): FieldError[] {
  if (parameters === undefined || parameters === null) return [requiredField(path)];
  if (byteLength(JSON.stringify(parameters)) > maxBytes) return [tooLongField(path, maxBytes)];
  return isObject(parameters) ? [] : [invalidField(path, "<value omitted>", "must be a valid JSON object")];
}
