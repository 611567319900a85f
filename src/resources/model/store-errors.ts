import {
  type ApiError,
  expired,
  futureVersion,
  internalError,
  plainError,
  type ResourceName,
  serverTimeout,
  serviceUnavailable,
  timeout,
} from "../../base/api/api-error.ts";
import { StoreError } from "../../storage/store.ts";

/** The operation in which the store failed. */
export interface StoreOperation {
  readonly target: ResourceName;
  readonly operation: "get" | "list" | "watch" | "create" | "update" | "delete";
  /** The requested revision. */
  readonly revision?: number;
}

const READS: readonly string[] = ["get", "list", "watch"];
const READ_TIMED_OUT = "request did not complete within the allotted timeout";
const WRITE_TIMED_OUT = "request did not complete within requested timeout - context deadline exceeded";

/** Converts a StoreError to an ApiError. Rethrows anything else. */
export function translateStoreError(error: unknown, { target, operation, revision }: StoreOperation): ApiError {
  if (!(error instanceof StoreError)) throw error;
  switch (error.code) {
    case "compacted":
      if (operation === "watch") return expired(`too old resource version: ${revision} (${error.revision})`);
      return expired(`The resourceVersion for the provided ${operation} is too old.`);
    case "future-revision":
      return futureVersion(revision ?? 0, error.revision);
    case "unavailable":
      return serverTimeout(target, operation);
    case "timeout":
      // Compat: the message of kube-apiserver when its own timeout expires, 34 to 60 s after etcd was paused, there
      // without Retry-After.
      return timeout(READS.includes(operation) ? READ_TIMED_OUT : WRITE_TIMED_OUT, 2);
    case "too-large":
      return plainError(500, "etcdserver: request is too large");
    case "no-space":
      return plainError(500, "etcdserver: mvcc: database space exceeded");
    case "closed":
      return serviceUnavailable("the server is shutting down", 1);
    default:
      return internalError("storage failed", error);
  }
}
