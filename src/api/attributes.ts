import type { Eventually } from "../lib/eventually.ts";
import { ApiError } from "./api-error.ts";
import { type FieldSelector, parseFieldSelector } from "./field-selector.ts";
import { type LabelSelector, parseLabelSelector } from "./label-selector.ts";
import { pathSegment } from "./names.ts";
import { parseListQuery } from "./options.ts";
import type { RequestInfo } from "./request-info.ts";
import type { UserInfo } from "./user-info.ts";

/** Who wants to do what, in the words of Kubernetes' `authorizer.Attributes`. What does not apply is empty. */
export interface Attributes {
  readonly user: UserInfo;
  /** get, list, watch, create, update, patch, delete, deletecollection, or what a plugin asks for, such as approve. */
  readonly verb: string;
  /** False: `verb` is the method in lower case, and of the rest only `path` counts. */
  readonly isResourceRequest: boolean;
  readonly path: string;
  readonly apiGroup: string;
  /** `*`: any, in access reviews that name none. */
  readonly apiVersion: string;
  readonly resource: string;
  readonly subresource: string;
  readonly namespace: string;
  readonly name: string;
  /** Absent also where a selector cannot be parsed: the question is then about more objects, never about fewer. */
  readonly fieldSelector?: FieldSelector;
  readonly labelSelector?: LabelSelector;
}

/** What an authorizer has to say. `noOpinion` leaves it to the next one; at the end it means no. */
export interface Decision {
  readonly decision: "allow" | "deny" | "noOpinion";
  readonly reason?: string;
  /** What went wrong on the way to this decision. Without an "allow" the request fails by it. */
  readonly error?: string;
}

/** Decides who may do what: at once, if it need not ask anybody. */
export interface Authorizer {
  authorize(attributes: Attributes): Eventually<Decision>;
}

/** What a plugin asks about an object that is no request of its own, such as the use of a signer. */
export function resourceAttributes(
  user: UserInfo,
  wanted: Pick<Attributes, "verb" | "apiGroup" | "resource"> & Partial<Attributes>,
): Attributes {
  return { ...NOTHING, isResourceRequest: true, ...wanted, user };
}

/** What an access review asks about a path that is no resource. */
export function nonResourceAttributes(user: UserInfo, verb: string, path: string): Attributes {
  return { ...NOTHING, isResourceRequest: false, user, verb, path };
}

const NOTHING = { path: "", apiVersion: "*", apiGroup: "", resource: "", subresource: "", namespace: "", name: "" };

const SELECTING_VERBS: readonly string[] = ["list", "watch", "deletecollection"];

/** What a request wants to do. */
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

/** What a question about a list tells of its selectors: those that can be parsed and select something. */
export function selectorAttributes(
  field: string | null | undefined,
  label: string | null | undefined,
): Pick<Attributes, "fieldSelector" | "labelSelector"> {
  const fieldSelector = readSelector(parseFieldTerms, field);
  const labelSelector = readSelector(parseLabelSelector, label);
  return { ...(fieldSelector && { fieldSelector }), ...(labelSelector && { labelSelector }) };
}

/** Compat: `fields.ParseSelector` sorts its terms, which webhooks see. */
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
