import { StoreError } from "./store.ts";

/** etcd's default for `--max-request-bytes`. */
export const MAX_REQUEST_BYTES = 1.5 * 1024 * 1024;

/** Upper bound of the size of a conditional write beyond its value and three times its key. */
const OVERHEAD_BYTES = 64;

/**
 * Throws StoreError "too-large" if etcd would reject the value, so that every store accepts the same objects. A write
 * contains its key three times: in the comparison, in the put, and in the read for a failed comparison.
 */
export function requireFitting(key: string, value: Uint8Array): void {
  if (value.byteLength + 3 * key.length + OVERHEAD_BYTES <= MAX_REQUEST_BYTES) return;
  throw new StoreError("too-large", `a value of ${value.byteLength} bytes exceeds the limit of a store`);
}
