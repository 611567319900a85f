import { AsyncLocalStorage } from "node:async_hooks";
import type { Call } from "../../base/api/call.ts";

/** The request that causes a read or write. */
export interface Caller {
  readonly call: Call;
  /** How many revisions its reads lag behind. */
  staleBy: number;
}

/** The request that causes the current store operation, if any. */
export const callers: AsyncLocalStorage<Caller> = new AsyncLocalStorage();
