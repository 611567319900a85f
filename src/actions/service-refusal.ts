import { type ApiError, invalid } from "../api/api-error.ts";
import type { FieldError } from "../api/field-error.ts";
import type { KubeObject } from "../api/object.ts";

/** 422 Invalid about a Service that cannot have the clusterIP or nodePort it asks for. */
export function refuse(service: KubeObject, errors: readonly FieldError[]): ApiError {
  return invalid({ group: "", kind: "Service" }, service.metadata.name ?? "", errors);
}
