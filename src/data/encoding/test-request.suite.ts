import type { ApiRequest } from "../../base/api/call.ts";
import type { EncodedReply } from "./reply/encoded-reply.ts";

/** A request with these headers and query, for tests. */
export function testRequest(headers: Record<string, string> = {}, query = ""): ApiRequest {
  return {
    method: "GET",
    path: "/",
    uri: "/",
    query: new URLSearchParams(query),
    headers,
    authority: "localhost",
    remoteAddress: undefined,
    remotePort: undefined,
    certificateChain: [],
    upgrade: "",
    readBody: () => Promise.resolve(new Uint8Array()),
    bodyStream: async function* () {},
    abort: () => {},
    whenFinished: () => {},
    signal: new AbortController().signal,
  };
}

/** The whole body of a response, for tests. */
export async function bodyOf(reply: EncodedReply): Promise<Buffer> {
  if (typeof reply.body === "string") return Buffer.from(reply.body);
  if (reply.body instanceof Uint8Array) return Buffer.from(reply.body);
  const chunks: Uint8Array[] = [];
  for await (const chunk of reply.body) chunks.push(chunk);
  return Buffer.concat(chunks);
}
