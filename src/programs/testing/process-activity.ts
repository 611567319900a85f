import { holdingTimers } from "../../serving/http/keep-alive.ts";

/** Resources that are open while nothing happens: standard streams, and the channel to a test runner. */
const PASSIVE: ReadonlySet<string> = new Set(["PipeWrap", "TTYWrap", "MessagePort"]);

/**
 * Whether code of this process waits for a timer, a file or a socket, and may send a request afterwards. Timers that do not keep
 * the process alive do not count. Node does not list work in its thread pool, such as that of `crypto.subtle`.
 */
export function isProcessWaiting(): boolean {
  const waiting = process.getActiveResourcesInfo().filter((type) => !PASSIVE.has(type));
  return waiting.length > holdingTimers();
}
