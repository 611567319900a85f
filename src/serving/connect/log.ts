import type { IncomingMessage } from "node:http";
import { type ApiError, badRequest, internalError, plainError } from "../../base/api/api-error.ts";
import type { ApiReply } from "../../base/api/reply.ts";
import { quote } from "../../base/go/quote.ts";
import { encodeQuery } from "../../base/go/url-escape.ts";
import { isUnverified, transportError } from "../../base/net/transport-error.ts";
import { type Backend, joinHostPort } from "./backend.ts";
import type { ConnectContext } from "./context.ts";
import { genericResponse } from "./generic-response.ts";
import type { LogOptions } from "./options.ts";

/**
 * The query of a log request to the kubelet. Upstream: `LogLocation`. `stream` is only sent if the feature is enabled.
 */
export function logQuery(options: LogOptions, stream: string | undefined): string {
  const parameters: [string, string][] = [];
  if (options.follow) parameters.push(["follow", "true"]);
  if (options.previous) parameters.push(["previous", "true"]);
  if (options.timestamps) parameters.push(["timestamps", "true"]);
  for (const name of ["sinceSeconds", "sinceTime", "tailLines", "limitBytes"] as const) {
    const value = options[name];
    if (value !== undefined) parameters.push([name, String(value)]);
  }
  if (stream !== undefined) parameters.push(["stream", stream]);
  return encodeQuery(parameters);
}

/** Streams a log from the kubelet. Upstream: `LocationStreamer`. */
export async function streamLog(
  { client, observer }: Pick<ConnectContext, "client" | "observer">,
  backend: Backend,
  uri: string,
  pod: string,
  signal: AbortSignal,
): Promise<ApiReply> {
  const prefix = `Get ${quote(`https://${joinHostPort(backend.host, backend.port)}${uri}`)}`;
  let response: IncomingMessage;
  try {
    response = await client.get(backend, uri, signal);
  } catch (error) {
    if (signal.aborted) throw signal.reason ?? error;
    if (isUnverified(error)) observer.logUnverified();
    throw plainError(500, `${prefix}: ${transportError(error)}`);
  }
  const { statusCode: code = 500, headers } = response;
  if ([301, 302, 303, 307, 308].includes(code) && headers.location !== undefined) {
    response.destroy();
    // Compat: `PreventRedirects`.
    throw plainError(500, `Get ${quote(headers.location)}: redirects forbidden`);
  }
  if (code < 200 || code > 206) throw await refusal(response, code, pod);
  return { type: "stream", code: 200, headers: { "content-type": "text/plain" }, body: response };
}

/** Maximum size of an error response that is read from a kubelet. */
const MAX_REFUSAL_BYTES = 50_000;

/** Upstream: `GenericHttpResponseChecker`. */
async function refusal(response: IncomingMessage, code: number, pod: string): Promise<ApiError> {
  const chunks: Buffer[] = [];
  let size = 0;
  for await (const chunk of response as AsyncIterable<Buffer>) {
    chunks.push(chunk);
    size += chunk.length;
    if (size >= MAX_REFUSAL_BYTES) break;
  }
  const text = Buffer.concat(chunks).subarray(0, MAX_REFUSAL_BYTES).toString();
  if (code === 500) return internalError(text);
  if (code === 400) return badRequest(text);
  return genericResponse(code, { group: "", resource: "pods/log" }, pod, text);
}
