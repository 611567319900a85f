import type { OpenIdDocument } from "../../access/authentication/service-accounts/openid.ts";
import { methodNotAllowed, notAcceptable } from "../../base/api/api-error.ts";
import type { Call } from "../../base/api/call.ts";
import type { ApiReply } from "../../base/api/reply.ts";

/** Compat: OpenIDMetadataServer makes its documents cacheable for an hour. */
const CACHE_CONTROL = "public, max-age=3600";

/** Serves the documents. Throws ApiError 405 for methods other than GET, 406 for other media types. */
export function openId(documents: readonly OpenIdDocument[]): (call: Call) => ApiReply | undefined {
  const byPath = new Map(documents.map((document) => [document.path, document]));
  return ({ request }) => {
    const { path, method, headers } = request;
    const document = byPath.get(path) ?? byPath.get(path.replace(/\/$/, ""));
    if (!document) return undefined;
    if (method !== "GET") throw methodNotAllowed();
    const { mediaType } = document;
    if (!accepts([headers.accept ?? ""].flat().join(","), mediaType)) {
      const message = `406: Not Acceptable\n\nAvailable representations: ${mediaType}`;
      throw notAcceptable(message, {});
    }
    const body = document.body();
    return { type: "raw", code: 200, headers: { "content-type": mediaType, "cache-control": CACHE_CONTROL }, body };
  };
}

/** Compat: go-restful's `matchesAccept` supports no wildcard but the full one, and no quality values. */
function accepts(header: string, mediaType: string): boolean {
  const types = header.split(",").map((item) => (item.split(";")[0] ?? "").trim());
  return header.trim() === "" || types.some((type) => type === "*/*" || type === mediaType);
}
