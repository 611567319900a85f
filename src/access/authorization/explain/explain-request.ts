import { badRequest, methodNotAllowed } from "../../../base/api/api-error.ts";
import {
  type Attributes,
  type Authorizer,
  nonResourceAttributes,
  resourceAttributes,
} from "../../../base/api/attributes.ts";
import type { Call } from "../../../base/api/call.ts";
import { isObject, type Json, type JsonObject } from "../../../base/api/object.ts";
import type { ApiReply } from "../../../base/api/reply.ts";
import type { UserInfo } from "../../../base/api/user-info.ts";
import { DecodeError, parseJson } from "../../../data/encoding/json/json.ts";
import type { Catalog } from "../../../resources/model/catalog.ts";
import { EXPLAIN_PATH } from "./explain-right.ts";
import { explain, type GrantSource } from "./explanation.ts";
import { printExplanation } from "./print.ts";

const MAX_BODY_BYTES = 64 * 1024;

/** Options of the endpoint. */
export interface ExplainOptions {
  readonly authorizer: Authorizer;
  readonly source: GrantSource;
  readonly catalog: Catalog;
}

/**
 * POST /binnacle/auth/explain takes the `spec` of a SubjectAccessReview and returns why the request is allowed or
 * denied. A resource without `group` is looked up by its name. Without `namespace`, a namespaced resource is checked in
 * `default`.
 */
export function explainEndpoint({
  authorizer,
  source,
  catalog,
}: ExplainOptions): (call: Call) => Promise<ApiReply | undefined> {
  return async (call) => {
    if (call.request.path !== EXPLAIN_PATH) return undefined;
    if (call.request.method !== "POST") throw methodNotAllowed();
    const spec = await readSpec(call);
    const user = userOf(spec);
    const attributes = attributesOf(spec, user, catalog);
    const explanation = await explain(authorizer, source, attributes);
    const request = describe(attributes);
    const text = printExplanation({ ...request, user: user.name || user.groups.join(", ") }, explanation);
    const value = { ...explanation, request: { ...request, user: user.name, groups: user.groups }, text };
    return { type: "document", code: 200, value: value as unknown as Json };
  };
}

async function readSpec(call: Call): Promise<JsonObject> {
  try {
    const body = parseJson(await call.request.readBody(MAX_BODY_BYTES));
    const spec = isObject(body) ? body.spec : undefined;
    if (isObject(spec)) return spec;
  } catch (error) {
    if (!(error instanceof DecodeError)) throw error;
  }
  throw badRequest("the body must be JSON with the spec of a SubjectAccessReview");
}

function textOf(object: JsonObject, member: string): string {
  const value = object[member] ?? "";
  if (typeof value !== "string") throw badRequest(`${member} must be a string`);
  return value;
}

function userOf(spec: JsonObject): UserInfo {
  const groups = spec.groups ?? [];
  if (!Array.isArray(groups) || !groups.every((group) => typeof group === "string")) {
    throw badRequest("groups must be a list of strings");
  }
  const name = textOf(spec, "user");
  if (name === "" && groups.length === 0) throw badRequest("at least one of user or group must be specified");
  return { name, groups };
}

function attributesOf(spec: JsonObject, user: UserInfo, catalog: Catalog): Attributes {
  const { resourceAttributes: resource, nonResourceAttributes: path } = spec;
  if (isObject(path)) return nonResourceAttributes(user, textOf(path, "verb"), textOf(path, "path"));
  if (!isObject(resource)) {
    throw badRequest("exactly one of nonResourceAttributes or resourceAttributes must be specified");
  }
  const given = textOf(resource, "resource");
  const found = find(catalog, given, resource.group === undefined ? undefined : textOf(resource, "group"));
  const isNamespaced = found === undefined || found.scope === "Namespaced";
  return resourceAttributes(user, {
    verb: textOf(resource, "verb"),
    apiGroup: found?.group ?? textOf(resource, "group"),
    resource: found?.plural ?? given,
    subresource: textOf(resource, "subresource"),
    name: textOf(resource, "name"),
    namespace: resource.namespace === undefined && isNamespaced ? "default" : textOf(resource, "namespace"),
  });
}

/** Finds a kind by plural, singular or short name. Without a group, the first one in discovery order wins. */
function find(catalog: Catalog, name: string, group: string | undefined) {
  return catalog.definitions.find(
    (one) =>
      (group === undefined || one.group === group) &&
      (one.plural === name || one.singular === name || one.shortNames?.includes(name)),
  );
}

function describe(attributes: Attributes): { verb: string; what: string; where: string } {
  const { verb, isResourceRequest, path, apiGroup, resource, subresource, namespace, name } = attributes;
  if (!isResourceRequest) return { verb, what: path, where: "" };
  const type = `${resource}${subresource === "" ? "" : `/${subresource}`}${apiGroup === "" ? "" : `.${apiGroup}`}`;
  const where = namespace === "" ? "at the cluster scope" : `in namespace ${namespace}`;
  return { verb, what: name === "" ? type : `${type} ${name}`, where };
}
