import type { Call } from "../api/call.ts";
import type { ApiReply } from "../api/reply.ts";

/** Answers `/` with the paths that can be asked for, sorted. `paths` is read on every call. */
export function root(paths: () => Iterable<string>): (call: Call) => ApiReply {
  return () => {
    const body = JSON.stringify({ paths: [...new Set(paths())].sort() }, undefined, 2);
    return { type: "raw", code: 200, headers: { "content-type": "application/json" }, body };
  };
}
