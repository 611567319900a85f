import type { JsonObject } from "./object.ts";

/** One of the reasons for a rejection. `reason` is what Kubernetes calls the cause type. */
export interface StatusCause extends JsonObject {
  reason?: string;
  message?: string;
  field?: string;
}

/** The subject of a Status. `kind` is the plural resource for most errors, and the kind for Invalid. */
export interface StatusDetails extends JsonObject {
  name?: string;
  group?: string;
  kind?: string;
  uid?: string;
  causes?: StatusCause[];
  retryAfterSeconds?: number;
}

/** The outcome of an operation that returns no object. */
export interface Status extends JsonObject {
  kind: "Status";
  apiVersion: "v1";
  metadata: JsonObject;
  status?: "Success" | "Failure";
  message?: string;
  reason?: string;
  details?: StatusDetails;
  code?: number;
}
