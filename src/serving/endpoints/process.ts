import { methodNotAllowed } from "../../base/api/api-error.ts";
import type { Call } from "../../base/api/call.ts";
import type { ApiReply } from "../../base/api/reply.ts";

/** The path of the endpoint. Only administrators may read it, like any path that no role names. */
export const PROCESS_PATH = "/binnacle/process";

/**
 * Serves the process id of this server, so that `binnacle down` can check the id in a data folder before it sends a signal.
 * Throws ApiError 405 for methods other than GET.
 */
export function processId(pid: number): (call: Call) => ApiReply | undefined {
  return ({ request: { path, method } }) => {
    if (path !== PROCESS_PATH) return undefined;
    if (method !== "GET") throw methodNotAllowed();
    const headers = { "content-type": "application/json" };
    return { type: "raw", code: 200, headers, body: JSON.stringify({ pid }) };
  };
}
