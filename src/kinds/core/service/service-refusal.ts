import { type ApiError, invalid } from "../../../api/api-error.ts";
import type { FieldError } from "../../../api/field-error.ts";
import type { KubeObject } from "../../../api/object.ts";

/** 422 about a service that cannot have what it asks for. */
export function refuse(service: KubeObject, errors: readonly FieldError[]): ApiError {
  return invalid({ group: "", kind: "Service" }, service.metadata.name ?? "", errors);
}
