import { type FieldError, invalidField } from "../../api/field-error.ts";

/** Adds an error when a path steps back with "..". */
export function pushBackstepErrors(errors: FieldError[], path: string, value: string): void {
  if (value.split("/").includes("..")) errors.push(invalidField(path, value, "must not contain '..'"));
}

/** Adds what keeps a path from leading down from where it is used. */
export function pushDescendingErrors(errors: FieldError[], path: string, value: string): void {
  if (value.startsWith("/")) errors.push(invalidField(path, value, "must be a relative path"));
  pushBackstepErrors(errors, path, value);
}

/** Adds what keeps a path from being that of a file that a volume makes: those that begin with ".." are its own. */
export function pushOwnFileErrors(errors: FieldError[], path: string, value: string): void {
  pushDescendingErrors(errors, path, value);
  if (value.startsWith("..") && !value.startsWith("../")) {
    errors.push(invalidField(path, value, "must not start with '..'"));
  }
}
