import { type FieldError, invalidField } from "../../../base/api/field-error.ts";

/** Rejects a path with "..". Upstream: `validatePathNoBacksteps`. */
export function pushBackstepErrors(errors: FieldError[], path: string, value: string): void {
  if (value.split("/").includes("..")) errors.push(invalidField(path, value, "must not contain '..'"));
}

/** Rejects a path that is absolute or has "..". Upstream: `validateLocalDescendingPath`. */
export function pushDescendingErrors(errors: FieldError[], path: string, value: string): void {
  if (value.startsWith("/")) errors.push(invalidField(path, value, "must be a relative path"));
  pushBackstepErrors(errors, path, value);
}

/**
 * Rejects a path of a file in a volume that begins with "..", which is reserved for the kubelet. Upstream:
 * `ValidateLocalNonReservedPath`.
 */
export function pushOwnFileErrors(errors: FieldError[], path: string, value: string): void {
  pushDescendingErrors(errors, path, value);
  if (value.startsWith("..") && !value.startsWith("../")) {
    errors.push(invalidField(path, value, "must not start with '..'"));
  }
}
