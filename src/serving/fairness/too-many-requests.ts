import type { ApiReply } from "../../base/api/reply.ts";

/** Compat: `tooManyRequests` answers with plain text instead of a Status. */
export function tooManyRequests(retryAfterSeconds: number): ApiReply {
  return {
    type: "raw",
    code: 429,
    headers: {
      "content-type": "text/plain; charset=utf-8",
      "retry-after": String(retryAfterSeconds),
      "x-content-type-options": "nosniff",
    },
    body: "Too many requests, please try again later.\n",
  };
}
