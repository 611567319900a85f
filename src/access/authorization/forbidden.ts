import { type ApiError, forbidden } from "../../base/api/api-error.ts";
import type { Attributes } from "../../base/api/attributes.ts";
import { quote } from "../../base/go/quote.ts";
import { escapeHtml } from "../../base/util/escape-html.ts";

/** The 403 for a request that no authorizer allowed. Compat: the messages of `ForbiddenStatusError`. */
export function forbiddenBy(attributes: Attributes, reason = ""): ApiError {
  const { apiGroup: group, resource, name } = attributes;
  const text = escapeHtml(describe(attributes));
  return forbidden({ group, resource }, name, reason === "" ? text : `${text}: ${reason}`);
}

function describe(attributes: Attributes): string {
  const { user, verb, resource, subresource, namespace, apiGroup } = attributes;
  const who = `User ${quote(user.name)} cannot ${verb}`;
  if (!attributes.isResourceRequest) return `${who} path ${quote(attributes.path)}`;
  const what = quote(subresource === "" ? resource : `${resource}/${subresource}`);
  const where = namespace === "" ? "at the cluster scope" : `in the namespace ${quote(namespace)}`;
  return `${who} resource ${what} in API group ${quote(apiGroup)} ${where}`;
}
