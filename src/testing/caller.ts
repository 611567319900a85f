import { AsyncLocalStorage } from "node:async_hooks";
import type { Call } from "../api/call.ts";

/** The request on whose behalf something is read or written. */
export interface Caller {
  readonly call: Call;
  /** It reads the state of so many revisions ago. */
  staleBy: number;
}

/** Who is behind what the store is asked for. */
export const callers: AsyncLocalStorage<Caller> = new AsyncLocalStorage();
