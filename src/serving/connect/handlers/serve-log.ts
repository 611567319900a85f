import type { ApiReply } from "../../../base/api/reply.ts";
import type { LogRequest, PodHandlers } from "./handlers.ts";

/** Serves a log request with a handler function. */
export function serveLog(log: NonNullable<PodHandlers["log"]>, request: LogRequest): ApiReply {
  const headers = { "content-type": "text/plain" };
  return { type: "stream", code: 200, headers, body: limited(log(request), request.limitBytes) };
}

async function* limited(
  lines: AsyncIterable<string | Uint8Array> | Iterable<string | Uint8Array>,
  limitBytes = Number.POSITIVE_INFINITY,
): AsyncGenerator<Uint8Array> {
  let left = limitBytes;
  for await (const line of lines) {
    const bytes = typeof line === "string" ? Buffer.from(line) : line;
    yield bytes.length > left ? bytes.subarray(0, left) : bytes;
    left -= bytes.length;
    if (left <= 0) return;
  }
}
