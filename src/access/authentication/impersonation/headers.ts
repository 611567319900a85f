import { badRequest } from "../../../base/api/api-error.ts";
import type { ApiRequest } from "../../../base/api/call.ts";
import type { UserInfo } from "../../../base/api/user-info.ts";
import { quote } from "../../../base/go/quote.ts";
import { headerText } from "../../../base/util/header-text.ts";

/** The user that the Impersonate-* headers name, exactly as sent. */
export type WantedUser = Required<UserInfo>;

const USER = "impersonate-user";
const UID = "impersonate-uid";
const GROUP = "impersonate-group";
const EXTRA_PREFIX = "impersonate-extra-";

/** Whether a header, given by its lower-case name, is one of the Impersonate-* headers. */
export function isImpersonationHeader(name: string): boolean {
  return name === USER || name === UID || name === GROUP || name.startsWith(EXTRA_PREFIX);
}

/**
 * Reads the Impersonate-* headers. Returns undefined if there are none. Throws 400 for a group, uid or extra without a
 * user; `isConstrained` selects the message of the constrained or the classic filter.
 */
export function readImpersonation(headers: ApiRequest["headers"], isConstrained: boolean): WantedUser | undefined {
  // Compat: of several Impersonate-User or Impersonate-Uid headers the first one counts, like with Go's `Header.Get`.
  const name = textsOf(headers, USER)[0] ?? "";
  const uid = textsOf(headers, UID)[0] ?? "";
  const groups = textsOf(headers, GROUP);
  const extra = readExtra(headers);
  const wanted = { name, uid, groups, extra: Object.fromEntries(extra) };
  if (name !== "") return wanted;
  if (uid === "" && groups.length === 0 && extra.size === 0) return undefined;
  throw badRequest(
    isConstrained ? `requested ${asGoStruct(wanted)} without impersonating a user name` : classic(wanted),
  );
}

function readExtra(headers: ApiRequest["headers"]): Map<string, string[]> {
  const extra = new Map<string, string[]>();
  for (const header in headers) {
    if (!header.startsWith(EXTRA_PREFIX)) continue;
    const key = decodeKey(header.slice(EXTRA_PREFIX.length));
    extra.set(key, [...(extra.get(key) ?? []), ...textsOf(headers, header)]);
  }
  return extra;
}

function textsOf(headers: ApiRequest["headers"], name: string): string[] {
  const value = headers[name];
  if (value === undefined) return [];
  const values = typeof value === "string" ? [value] : value;
  return values.map((one) => {
    const text = headerText(one);
    if (text === undefined) throw notText(name);
    return text;
  });
}

/** Compat: unescapeExtraKey. A key with an invalid percent escape is used unchanged. */
function decodeKey(encoded: string): string {
  if (/%(?![0-9a-f]{2})/.test(encoded)) return encoded;
  try {
    return decodeURIComponent(encoded);
  } catch {
    throw notText(EXTRA_PREFIX);
  }
}

/** Values that are not UTF-8 are rejected: Go can tell them apart from values with U+FFFD, JavaScript cannot. */
function notText(header: string): Error {
  return badRequest(`the value of ${header} is not UTF-8`);
}

/** Compat: `%#v` of Go's `*user.DefaultInfo`. */
function asGoStruct({ name, uid, groups, extra }: WantedUser): string {
  const slice = (values: readonly string[]): string =>
    values.length === 0 ? "[]string(nil)" : `[]string{${values.map(quote).join(", ")}}`;
  const keys = Object.keys(extra).toSorted();
  const entries = keys.map((key) => `${quote(key)}:${slice(extra[key] ?? [])}`);
  const map = keys.length === 0 ? "map[string][]string(nil)" : `map[string][]string{${entries.join(", ")}}`;
  return `&user.DefaultInfo{Name:${quote(name)}, UID:${quote(uid)}, Groups:${slice(groups)}, Extra:${map}}`;
}

/**
 * Compat: `%v` of the `[]v1.ObjectReference` that buildImpersonationRequests returns while ConstrainedImpersonation is
 * off.
 */
function classic({ uid, groups, extra }: WantedUser): string {
  const version = "authentication.k8s.io/v1";
  const references = groups.map((group) => `{Group  ${group}    }`);
  for (const [key, values] of Object.entries(extra)) {
    for (const value of values) references.push(`{UserExtra  ${value}  ${version}  ${key}}`);
  }
  if (uid !== "") references.push(`{UID  ${uid}  ${version}  }`);
  return `requested [${references.join(" ")}] without impersonating a user`;
}
