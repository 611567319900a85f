import type { ApiError } from "../../api/api-error.ts";
import { type Attributes, type Authorizer, resourceAttributes } from "../../api/attributes.ts";
import { invalidField, printFieldError } from "../../api/field-error.ts";
import { dns1123Label, dns1123Subdomain, regexMessage } from "../../api/names.ts";
import type { UserInfo } from "../../api/user-info.ts";
import { quote } from "../../lib/go/quote.ts";
import { forbiddenBy } from "../forbidden.ts";
import type { WantedUser } from "./headers.ts";

/** How a mode of impersonation asks whether a caller may be taken for somebody. */
export interface IdentityChecks {
  readonly verb: string;
  /** Not the classic mode: users and groups are in authentication.k8s.io, nodes are known, some values are refused. */
  readonly isConstrained: boolean;
  /** Compat: the filter without ConstrainedImpersonation asks for the uid last. */
  readonly asksUidLast?: boolean;
  /** What is really asked; associated-node hides from the authorizer who exactly asks about which node. */
  readonly rewrite?: (attributes: Attributes) => Attributes;
}

const AUTHENTICATION = "authentication.k8s.io";
/** Compat: manyAuthorizationChecksInLoop. From so many values on, a right to all of them is asked for first. */
const MANY = 4;

/** Undefined when an authorizer allows it; else the 403. */
export async function refusalOf(authorizer: Authorizer, attributes: Attributes): Promise<ApiError | undefined> {
  const { decision, reason = "", error } = await authorizer.authorize(attributes);
  if (decision === "allow") return undefined;
  return forbiddenBy(attributes, error === undefined || reason === "" ? (error ?? reason) : `${error}: ${reason}`);
}

/**
 * Asks for the right to each value of the wanted user, and completes its groups. Throws the 403 of the first value that
 * the caller may not be taken for.
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

/** By which resource a user name is asked for, and the groups that it has without being asked. */
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

/** The groups that somebody has who is impersonated with these in the classic mode. */
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

/** The node that a user name stands for. */
export function nodeOfUser(name: string): string | undefined {
  if (!name.startsWith(NODE_PREFIX)) return undefined;
  const node = name.slice(NODE_PREFIX.length);
  return dns1123Subdomain(node).length === 0 ? node : undefined;
}

/** The service account that a user name stands for. Compat: SplitUsername; a name that cannot exist is an ordinary user. */
export function accountOfUser(name: string): { readonly namespace: string; readonly name: string } | undefined {
  if (!name.startsWith(ACCOUNT_PREFIX)) return undefined;
  const [namespace = "", account = "", ...rest] = name.slice(ACCOUNT_PREFIX.length).split(":", 3);
  const isValid = dns1123Label(namespace).length === 0 && dns1123Subdomain(account).length === 0;
  return isValid && rest.length === 0 ? { namespace, name: account } : undefined;
}
