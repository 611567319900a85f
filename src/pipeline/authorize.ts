import { forbidden } from "../api/api-error.ts";
import type { Attributes, Authorizer } from "../api/attributes.ts";
import type { ApiRequest, Stage } from "../api/call.ts";
import { quote } from "../api/field-error.ts";
import type { ApiReply } from "../api/reply.ts";
import { getMember } from "../lib/members.ts";

/** Lets pass what the authorizer allows. Everything else is refused with 403, or with 500 when it cannot be decided. */
export function authorize(authorizer: Authorizer): Stage {
  return (next) => async (call) => {
    const { attributes } = call;
    const { decision, reason, error } = await authorizer.authorize(attributes);
    if (decision === "allow") return next(call);
    if (error !== undefined) return undecided(call.request, error);
    const { apiGroup, resource, name } = attributes;
    throw forbidden({ group: apiGroup, resource }, name, refusalText(attributes, reason));
  };
}

const HTML: Readonly<Record<string, string>> = { "&": "&amp;", "<": "&lt;", ">": "&gt;" };

/** Compat: `responsewriters` escapes what HTML would understand, though the message is no HTML. */
const sanitize = (text: string): string => text.replace(/[&<>]/g, (sign) => getMember(HTML, sign) ?? sign);

/** What a caller may not do, in the words of `forbiddenMessage`, and why. */
function refusalText(attributes: Attributes, reason = ""): string {
  const text = sanitize(`User ${quote(attributes.user.name)} cannot ${attributes.verb} ${objectText(attributes)}`);
  return reason === "" ? text : `${text}: ${reason}`;
}

function objectText({ isResourceRequest, path, apiGroup, resource, subresource, namespace }: Attributes): string {
  if (!isResourceRequest) return `path ${quote(path)}`;
  const what = quote(subresource === "" ? resource : `${resource}/${subresource}`);
  const where = namespace === "" ? "at the cluster scope" : `in the namespace ${quote(namespace)}`;
  return `resource ${what} in API group ${quote(apiGroup)} ${where}`;
}

/** Compat: `responsewriters.InternalError` answers with plain text instead of a Status. */
function undecided({ path, query }: ApiRequest, error: string): ApiReply {
  const uri = query.size === 0 ? path : `${path}?${query}`;
  return {
    type: "raw",
    code: 500,
    headers: { "content-type": "text/plain; charset=utf-8", "x-content-type-options": "nosniff" },
    body: `${sanitize(`Internal Server Error: ${quote(uri)}`)}: ${error}\n`,
  };
}
