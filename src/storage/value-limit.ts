import { StoreError } from "./store.ts";

/** etcd's default for `--max-request-bytes`. */
export const MAX_REQUEST_BYTES = 1.5 * 1024 * 1024;

/** How much longer a conditional write is than its value and three times its key. */
const OVERHEAD_BYTES = 64;

/**
 * Throws StoreError "too-large" for a value that etcd would not take, so that an object fits into every store or into
 * none. A write names its key in the comparison, in the put and in the read that follows a refusal.
 */
export function requireFitting(key: string, value: Uint8Array): void {
  if (value.byteLength + 3 * key.length + OVERHEAD_BYTES <= MAX_REQUEST_BYTES) return;
  throw new StoreError("too-large", `a value of ${value.byteLength} bytes is more than a store takes`);
}
