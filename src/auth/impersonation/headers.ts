import { badRequest } from "../../api/api-error.ts";
import type { ApiRequest } from "../../api/call.ts";
import type { UserInfo } from "../../api/user-info.ts";
import { quote } from "../../lib/go/quote.ts";
import { headerText } from "../../lib/header-text.ts";

/** Whom a client wants to be taken for, exactly as its headers say. */
export type WantedUser = Required<UserInfo>;

const USER = "impersonate-user";
const UID = "impersonate-uid";
const GROUP = "impersonate-group";
const EXTRA_PREFIX = "impersonate-extra-";

/** Whether a header, by its lower-case name, says whom the client wants to be taken for. */
export function isImpersonationHeader(name: string): boolean {
  return name === USER || name === UID || name === GROUP || name.startsWith(EXTRA_PREFIX);
}

/**
 * Whom the headers ask to be taken for; undefined when they do not ask. Throws 400 for a group, uid or extra without a
 * user, in the words of the constrained or of the classic filter.
 */
export function readImpersonation(headers: ApiRequest["headers"], isConstrained: boolean): WantedUser | undefined {
  // Compat: of several Impersonate-User or Impersonate-Uid the first one counts, as by Go's `Header.Get`.
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

/** Compat: unescapeExtraKey. A key with a percent sign that begins no escape is taken as it is. */
function decodeKey(encoded: string): string {
  if (/%(?![0-9a-f]{2})/.test(encoded)) return encoded;
  try {
    return decodeURIComponent(encoded);
  } catch {
    throw notText(EXTRA_PREFIX);
  }
}

/** Names that are no text are refused: Go can tell them apart from those with U+FFFD, JavaScript cannot. */
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

/** Compat: `%v` of the `[]v1.ObjectReference` that buildImpersonationRequests makes, while ConstrainedImpersonation is off. */
function classic({ uid, groups, extra }: WantedUser): string {
  const version = "authentication.k8s.io/v1";
  const references = groups.map((group) => `{Group  ${group}    }`);
  for (const [key, values] of Object.entries(extra)) {
    for (const value of values) references.push(`{UserExtra  ${value}  ${version}  ${key}}`);
  }
  if (uid !== "") references.push(`{UID  ${uid}  ${version}  }`);
  return `requested [${references.join(" ")}] without impersonating a user`;
}
