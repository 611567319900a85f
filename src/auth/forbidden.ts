import { type ApiError, forbidden } from "../api/api-error.ts";
import type { Attributes } from "../api/attributes.ts";
import { escapeHtml } from "../lib/escape-html.ts";
import { quote } from "../lib/go/quote.ts";

/** 403: authorizers did not allow what the attributes ask for. Compat: the texts of `ForbiddenStatusError`. */
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
