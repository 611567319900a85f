import { type ApiError, invalid } from "../../../base/api/api-error.ts";
import type { FieldError } from "../../../base/api/field-error.ts";
import type { KubeObject } from "../../../base/api/object.ts";

/** 422 Invalid for a Service that cannot have the clusterIP or nodePort it requests. */
export function refuse(service: KubeObject, errors: readonly FieldError[]): ApiError {
  return invalid({ group: "", kind: "Service" }, service.metadata.name ?? "", errors);
}
