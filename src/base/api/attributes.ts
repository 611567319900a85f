import type { Eventually } from "../util/eventually.ts";
import { ApiError } from "./api-error.ts";
import { type FieldSelector, parseFieldSelector } from "./field-selector.ts";
import { type LabelSelector, parseLabelSelector } from "./label-selector.ts";
import { pathSegment } from "./names.ts";
import { parseListQuery } from "./options.ts";
import type { RequestInfo } from "./request-info.ts";
import type { UserInfo } from "./user-info.ts";

/** The attributes of an authorization request, like `authorizer.Attributes`. Those that do not apply are empty. */
export interface Attributes {
  readonly user: UserInfo;
  /**
   * get, list, watch, create, update, patch, delete, deletecollection, or a verb that a plugin checks, such as approve.
   */
  readonly verb: string;
  /** If false, `verb` is the HTTP method in lower case, and of the other attributes only `path` applies. */
  readonly isResourceRequest: boolean;
  readonly path: string;
  readonly apiGroup: string;
  /** `*`: any version, for access reviews that name no version. */
  readonly apiVersion: string;
  readonly resource: string;
  readonly subresource: string;
  readonly namespace: string;
  readonly name: string;
  /** Also omitted if a selector cannot be parsed: the request then covers more objects, never fewer. */
  readonly fieldSelector?: FieldSelector;
  readonly labelSelector?: LabelSelector;
}

/**
 * The verdict of an authorizer. `noOpinion` leaves the decision to the next authorizer; after the last one it means no.
 */
export interface Decision {
  readonly decision: "allow" | "deny" | "noOpinion";
  readonly reason?: string;
  /** An error that occurred during evaluation. Unless the decision is "allow", the request fails with it. */
  readonly error?: string;
}

/** Decides who may do what. Synchronous if it needs no I/O. */
export interface Authorizer {
  authorize(attributes: Attributes): Eventually<Decision>;
}

/** Attributes of a check that is not the request itself, such as the permission to use a signer. */
export function resourceAttributes(
  user: UserInfo,
  wanted: Pick<Attributes, "verb" | "apiGroup" | "resource"> & Partial<Attributes>,
): Attributes {
  return { ...NOTHING, isResourceRequest: true, ...wanted, user };
}

/** Attributes of an access review for a non-resource path. */
export function nonResourceAttributes(user: UserInfo, verb: string, path: string): Attributes {
  return { ...NOTHING, isResourceRequest: false, user, verb, path };
}

const NOTHING = { path: "", apiVersion: "*", apiGroup: "", resource: "", subresource: "", namespace: "", name: "" };

const SELECTING_VERBS: readonly string[] = ["list", "watch", "deletecollection"];

/** The authorization attributes of a request. */
export function requestAttributes(user: UserInfo, info: RequestInfo, query: URLSearchParams): Attributes {
  const { verb, path, group, version, resource, subresource, namespace } = info;
  const isSelecting = info.isResource && !info.watchPath && SELECTING_VERBS.includes(verb);
  const selectors = isSelecting ? selectorAttributes(query.get("fieldSelector"), query.get("labelSelector")) : {};
  const { fieldSelector, labelSelector } = selectors;
  const isNamedBySelector = info.name === "" && (verb === "list" || verb === "watch") && fieldSelector !== undefined;
  return {
    user,
    verb,
    isResourceRequest: info.isResource,
    path,
    apiGroup: group,
    apiVersion: version,
    resource,
    subresource,
    namespace,
    name: isNamedBySelector ? selectedName(fieldSelector, query) : info.name,
    ...(fieldSelector && { fieldSelector }),
    ...(labelSelector && { labelSelector }),
  };
}

/**
 * The selectors of a list, watch or deletecollection as attributes. Selectors that are empty or cannot be parsed are
 * left out.
 */
export function selectorAttributes(
  field: string | null | undefined,
  label: string | null | undefined,
): Pick<Attributes, "fieldSelector" | "labelSelector"> {
  const fieldSelector = readSelector(parseFieldTerms, field);
  const labelSelector = readSelector(parseLabelSelector, label);
  return { ...(fieldSelector && { fieldSelector }), ...(labelSelector && { labelSelector }) };
}

/** Compat: `fields.ParseSelector` sorts its terms, which is visible to authorization webhooks. */
function parseFieldTerms(text: string): FieldSelector {
  const terms = parseFieldSelector(text).map((one) => ({
    one,
    text: `${one.field}${one.isEqual ? "" : "!"}=${one.value}`,
  }));
  return terms.sort((a, b) => (a.text < b.text ? -1 : 1)).map(({ one }) => one);
}

function readSelector<T extends readonly unknown[]>(
  parse: (text: string) => T,
  text: string | null | undefined,
): T | undefined {
  if (!text) return undefined;
  const requirements = ifValid(() => parse(text));
  return requirements?.length ? requirements : undefined;
}

/**
 * Compat: RequestInfoFactory.NewRequestInfo takes the name of a list or watch from `metadata.name=x` in its field
 * selector, where x can be a path segment and all list options can be parsed.
 */
function selectedName(fields: FieldSelector, query: URLSearchParams): string {
  const name = fields.find((one) => one.field === "metadata.name" && one.isEqual)?.value ?? "";
  if (name === "" || pathSegment(name).length > 0) return "";
  const options = ifValid(() => parseLabelSelector(parseListQuery(query).labelSelector));
  return options === undefined ? "" : name;
}

function ifValid<T>(read: () => T): T | undefined {
  try {
    return read();
  } catch (error) {
    if (error instanceof ApiError) return undefined;
    throw error;
  }
}
