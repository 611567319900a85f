import type { Call } from "../../base/api/call.ts";
import type { ApiReply } from "../../base/api/reply.ts";

/** Serves `/` with the sorted list of paths. `paths` is called for each request. */
export function root(paths: () => Iterable<string>): (call: Call) => ApiReply {
  return () => {
    const body = JSON.stringify({ paths: [...new Set(paths())].sort() }, undefined, 2);
    return { type: "raw", code: 200, headers: { "content-type": "application/json" }, body };
  };
}
