import { randomBytes } from "node:crypto";
import type { Authenticated, Authenticator, Credentials } from "../../access/authentication/authenticator.ts";
import type { UserInfo } from "../../base/api/user-info.ts";

/** A user to authenticate as. */
export interface TestUser {
  readonly user: string;
  readonly groups?: readonly string[];
  readonly uid?: string;
  readonly extra?: Readonly<Record<string, readonly string[]>>;
}

/** Tokens of test users, valid for all control planes of a family. */
export class TestUsers implements Authenticator {
  readonly #tokens = new Map<string, string>();
  readonly #users = new Map<string, UserInfo>();

  /** Returns the same token for the same user. */
  tokenOf({ user: name, groups = [], uid, extra }: TestUser): string {
    const key = JSON.stringify([name, groups, uid, extra]);
    const known = this.#tokens.get(key);
    if (known !== undefined) return known;
    const token = randomBytes(18).toString("base64url");
    this.#tokens.set(key, token);
    this.#users.set(token, { name, groups, ...(uid === undefined ? {} : { uid }), ...(extra ? { extra } : {}) });
    return token;
  }

  async authenticate({ bearerToken, audiences }: Credentials): Promise<Authenticated | undefined> {
    const user = bearerToken === undefined ? undefined : this.#users.get(bearerToken);
    return user && { user, ...(audiences ? { audiences } : {}) };
  }
}
