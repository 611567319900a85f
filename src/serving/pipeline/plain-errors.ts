import type { ApiRequest, Stage } from "../../base/api/call.ts";
import type { ApiReply } from "../../base/api/reply.ts";
import { quote } from "../../base/go/quote.ts";
import { escapeHtml } from "../../base/util/escape-html.ts";

/** Compat: `responsewriters.InternalError` answers 500 with plain text instead of a Status. */
export function internalServerError({ uri }: ApiRequest, text: string): ApiReply {
  return {
    type: "raw",
    code: 500,
    headers: { "content-type": "text/plain; charset=utf-8", "x-content-type-options": "nosniff" },
    body: `${escapeHtml(`Internal Server Error: ${quote(uri)}: ${text}`)}\n`,
  };
}

/** Compat: WithRequestInfo, before authentication, answers 500 to a path that ends after `watch` or `proxy`. */
export const refuseIncompletePaths: Stage = (next) => (call) => {
  if (!call.info.isIncomplete) return next(call);
  const { request } = call;
  const text = `failed to create RequestInfo: unable to determine kind and namespace from url, ${request.uri}`;
  return internalServerError(request, text);
};
