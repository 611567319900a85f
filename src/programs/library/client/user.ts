import { withAuthenticatedGroup } from "../../../access/authentication/authenticated-group.ts";
import type { UserInfo } from "../../../base/api/user-info.ts";

/** A user to act as. It needs no credentials, and has the permissions that roles grant to the name and the groups. */
export interface User {
  readonly name: string;
  /** Groups besides `system:authenticated`. */
  readonly groups?: readonly string[];
  readonly uid?: string;
  /** Shown to authorizers and admission, such as `{ "example.com/tenant": ["t1"] }`. */
  readonly extra?: Readonly<Record<string, readonly string[]>>;
}

/** The user as requests carry it. */
export function userInfoOf({ groups = [], ...user }: User): UserInfo {
  if (!user.name) throw new TypeError("a user has no name");
  return withAuthenticatedGroup({ user: { ...user, groups } }).user;
}
