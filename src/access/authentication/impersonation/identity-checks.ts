import type { ApiError } from "../../../base/api/api-error.ts";
import { type Attributes, type Authorizer, resourceAttributes } from "../../../base/api/attributes.ts";
import { invalidField, printFieldError } from "../../../base/api/field-error.ts";
import { dns1123Label, dns1123Subdomain, regexMessage } from "../../../base/api/names.ts";
import type { UserInfo } from "../../../base/api/user-info.ts";
import { quote } from "../../../base/go/quote.ts";
import { forbiddenBy } from "../../authorization/forbidden.ts";
import type { WantedUser } from "./headers.ts";

/** How a mode of impersonation checks whether the caller is allowed to impersonate a user. */
export interface IdentityChecks {
  readonly verb: string;
  /**
   * True in all modes but the classic one: users and groups belong to authentication.k8s.io, node names are recognised,
   * and some values are rejected.
   */
  readonly isConstrained: boolean;
  /** Compat: the filter without ConstrainedImpersonation checks the uid last. */
  readonly asksUidLast?: boolean;
  /**
   * Changes the attributes before authorization. The mode associated-node hides the exact caller and the node from the
   * authorizer.
   */
  readonly rewrite?: (attributes: Attributes) => Attributes;
}

const AUTHENTICATION = "authentication.k8s.io";
/**
 * Compat: manyAuthorizationChecksInLoop. From this number of values on, the right to all values ("*") is checked first.
 */
const MANY = 4;

/** Returns undefined if the authorizer allows the request; otherwise the 403. */
export async function refusalOf(authorizer: Authorizer, attributes: Attributes): Promise<ApiError | undefined> {
  const { decision, reason = "", error } = await authorizer.authorize(attributes);
  if (decision === "allow") return undefined;
  return forbiddenBy(attributes, error === undefined || reason === "" ? (error ?? reason) : `${error}: ${reason}`);
}

/**
 * Checks the right to each value of the wanted user, and returns the user with completed groups. Throws the 403 of the
 * first value that the caller may not impersonate.
 */
export async function checkIdentity(
  authorizer: Authorizer,
  checks: IdentityChecks,
  caller: UserInfo,
  wanted: WantedUser,
): Promise<UserInfo> {
  const { isConstrained, rewrite = (attributes) => attributes } = checks;
  const group = isConstrained ? AUTHENTICATION : "";
  const asking: Asking = {
    isConstrained,
    attributes: (values) =>
      rewrite(resourceAttributes(caller, { verb: checks.verb, apiGroup: AUTHENTICATION, apiVersion: "v1", ...values })),
    ask: (attributes) => refusalOf(authorizer, attributes),
  };
  const { groups = wanted.groups, ...asked } = identify(wanted, isConstrained);
  await demand(asking, { apiGroup: group, ...asked });
  if (!checks.asksUidLast) await checkUid(asking, wanted.uid);
  await checkGroups(asking, group, wanted.groups);
  await checkExtra(asking, wanted.extra);
  if (checks.asksUidLast) await checkUid(asking, wanted.uid);
  return { ...wanted, groups: completeGroups(wanted.name, groups) };
}

type Asked = Pick<Attributes, "resource"> & Partial<Attributes>;

interface Asking {
  readonly isConstrained: boolean;
  attributes(values: Asked): Attributes;
  ask(attributes: Attributes): Promise<ApiError | undefined>;
}

async function demand({ attributes, ask }: Asking, values: Asked): Promise<void> {
  const refusal = await ask(attributes(values));
  if (refusal) throw refusal;
}

/** The resource that the right to a user name is checked on, and the groups that the user has implicitly. */
function identify({ name, groups }: WantedUser, isConstrained: boolean): Asked & { groups?: readonly string[] } {
  const node = isConstrained ? nodeOfUser(name) : undefined;
  if (node !== undefined) return { resource: "nodes", name: node, groups: ["system:nodes"] };
  const account = accountOfUser(name);
  if (account === undefined) return { resource: "users", name };
  const own = ["system:serviceaccounts", `system:serviceaccounts:${account.namespace}`];
  return { resource: "serviceaccounts", ...account, ...(groups.length === 0 && { groups: own }) };
}

async function checkUid(asking: Asking, uid: string): Promise<void> {
  if (uid !== "") await demand(asking, { resource: "uids", name: uid });
}

async function checkGroups(asking: Asking, apiGroup: string, groups: readonly string[]): Promise<void> {
  if (groups.length === 0) return;
  const { isConstrained, attributes, ask } = asking;
  const about = (name: string): Attributes => attributes({ apiGroup, resource: "groups", name });
  if (isConstrained) {
    if (groups.includes("")) throw forbiddenBy(about(""), "impersonating the empty string group is not allowed");
    const masters = "system:masters";
    if (groups.includes(masters)) {
      throw forbiddenBy(about(masters), "impersonating the system:masters group is not allowed");
    }
    if (groups.length >= MANY && (await ask(about("*"))) === undefined) return;
  }
  for (const group of groups) await demand(asking, { apiGroup, resource: "groups", name: group });
}

async function checkExtra(asking: Asking, extra: WantedUser["extra"]): Promise<void> {
  const keys = Object.keys(extra);
  if (keys.length === 0) return;
  const resource = "userextras";
  if (asking.isConstrained) {
    const problem = keys.map((key) => extraProblem(key, extra[key] ?? [])).find((text) => text !== undefined);
    if (problem !== undefined) throw forbiddenBy(asking.attributes({ resource }), problem);
    const count = Object.values(extra).reduce((sum, values) => sum + values.length, 0);
    const isLarge = keys.length >= MANY || count >= MANY;
    const all = asking.attributes({ resource, subresource: "*", name: "*" });
    if (isLarge && (await asking.ask(all)) === undefined) return;
  }
  for (const [subresource, values] of Object.entries(extra)) {
    for (const name of values) await demand(asking, { resource, subresource, name });
  }
}

const PATH_PATTERN = "[A-Za-z0-9/\\-._~%!$&'()*+,;=:]+";
const PATH = new RegExp(`^${PATH_PATTERN}$`);

/** Compat: validateExtra. */
function extraProblem(key: string, values: readonly string[]): string | undefined {
  if (key === "") return "impersonating the empty string key in extra is not allowed";
  const errors = keyErrors(key);
  if (errors.length > 0) {
    const text = errors.length === 1 ? errors[0] : `[${errors.join(", ")}]`;
    return `impersonating an invalid key in extra is not allowed: ${text}`;
  }
  if (key !== key.toLowerCase()) {
    return `impersonating a non-lowercase key in extra is not allowed: ${quote(key)}`;
  }
  return values.includes("") ? "impersonating the empty string value in extra is not allowed" : undefined;
}

/** Compat: IsDomainPrefixedPath. */
function keyErrors(key: string): string[] {
  const at = key.indexOf("/");
  const [host, path] = [key.slice(0, Math.max(at, 0)), key.slice(at + 1)];
  const field = "extra.key";
  if (host === "" || path === "") {
    const text = 'must be a domain-prefixed path (such as "acme.io/foo")';
    return [printFieldError(invalidField(field, key, text))];
  }
  const errors = dns1123Subdomain(host).map((text) => invalidField(field, host, text));
  if (!PATH.test(path)) errors.push(invalidField(field, path, regexMessage("Invalid path", PATH_PATTERN)));
  return errors.map(printFieldError);
}

const ANONYMOUS = "system:anonymous";
const AUTHENTICATED = "system:authenticated";
const UNAUTHENTICATED = "system:unauthenticated";

/** The groups of a user that is impersonated with the groups `groups` in the classic mode. */
export function impersonatedGroups(name: string, groups: readonly string[]): readonly string[] {
  const { groups: own = groups } = identify({ name, groups, uid: "", extra: {} }, false);
  return completeGroups(name, own);
}

function completeGroups(name: string, groups: readonly string[]): readonly string[] {
  if (groups.includes(UNAUTHENTICATED)) return groups;
  const missing = name === ANONYMOUS ? UNAUTHENTICATED : AUTHENTICATED;
  return groups.includes(missing) ? groups : [...groups, missing];
}

const NODE_PREFIX = "system:node:";
const ACCOUNT_PREFIX = "system:serviceaccount:";

/** The node of a user name `system:node:<name>`. Undefined for other names. */
export function nodeOfUser(name: string): string | undefined {
  if (!name.startsWith(NODE_PREFIX)) return undefined;
  const node = name.slice(NODE_PREFIX.length);
  return dns1123Subdomain(node).length === 0 ? node : undefined;
}

/**
 * The service account of a user name. Undefined for other names. Compat: SplitUsername; an invalid service account name
 * counts as an ordinary user.
 */
export function accountOfUser(name: string): { readonly namespace: string; readonly name: string } | undefined {
  if (!name.startsWith(ACCOUNT_PREFIX)) return undefined;
  const [namespace = "", account = "", ...rest] = name.slice(ACCOUNT_PREFIX.length).split(":", 3);
  const isValid = dns1123Label(namespace).length === 0 && dns1123Subdomain(account).length === 0;
  return isValid && rest.length === 0 ? { namespace, name: account } : undefined;
}
