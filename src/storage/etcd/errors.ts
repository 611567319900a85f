import { StoreError } from "../store.ts";
import { GrpcError, grpcStatus } from "./transport.ts";

/** Converts a GrpcError to a StoreError. Returns any other error unchanged. */
export function toStoreError(error: unknown): unknown {
  if (!(error instanceof GrpcError)) return error;
  const { message } = error;
  const options = { cause: error };
  if (isCompacted(error)) return new StoreError("compacted", message, options);
  if (isFutureRevision(error)) return new StoreError("future-revision", message, options);
  // Beyond 2 MiB gRPC rejects the request before etcd does.
  if (/request is too large|message larger than max/.test(message))
    return new StoreError("too-large", message, options);
  if (message.includes("database space exceeded")) return new StoreError("no-space", message, options);
  if (error.code === grpcStatus.deadlineExceeded) return new StoreError("timeout", message, options);
  return new StoreError("unavailable", message, options);
}

/** Whether etcd has compacted the requested revision. */
export function isCompacted(error: unknown): boolean {
  return error instanceof GrpcError && error.message.includes("required revision has been compacted");
}

/** Whether etcd, or this member, has not reached the requested revision. */
export function isFutureRevision(error: unknown): boolean {
  return error instanceof GrpcError && error.message.includes("required revision is a future revision");
}

/** Whether the lease of a write has expired. The write did not happen. */
export function isLeaseGone(error: unknown): boolean {
  return error instanceof GrpcError && error.message.includes("requested lease not found");
}

/** Whether it is not known if a failed write took effect or still will. */
export function isOutcomeOpen(error: unknown): boolean {
  if (!(error instanceof GrpcError) || !error.mayHaveHappened) return false;
  const decided: readonly number[] = [
    grpcStatus.invalidArgument,
    grpcStatus.notFound,
    grpcStatus.permissionDenied,
    grpcStatus.resourceExhausted,
    grpcStatus.failedPrecondition,
    grpcStatus.outOfRange,
    grpcStatus.unimplemented,
    grpcStatus.unauthenticated,
  ];
  return !decided.includes(error.code);
}

/** Error for a write whose outcome could not be determined. */
export function unknownOutcome(cause: unknown): StoreError {
  const isTimeout = cause instanceof GrpcError && cause.code === grpcStatus.deadlineExceeded;
  const reason = cause instanceof Error ? cause.message : String(cause);
  return new StoreError(isTimeout ? "timeout" : "unavailable", `the outcome of the write is unknown: ${reason}`, {
    cause,
  });
}
