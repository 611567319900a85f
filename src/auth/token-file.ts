import { timingSafeEqual } from "node:crypto";
import type { UserInfo } from "../api/user-info.ts";
import type { Authenticated, Authenticator, Credentials } from "./authenticator.ts";

/** A token and whom it stands for. */
export interface StaticToken {
  readonly token: string;
  readonly user: UserInfo;
}

/**
 * Reads a token file: lines of `token,user name,uid[,"group,group"]`. Throws an Error that names the line when one
 * cannot be read.
 */
export function parseTokenFile(text: string): StaticToken[] {
  const tokens: StaticToken[] = [];
  for (const [index, line] of text.split(/\r?\n/).entries()) {
    if (line.trim() === "" || line.startsWith("#")) continue;
    const fields = splitRecord(line);
    if (fields.length < 3) throw new Error(`token file, line ${index + 1}: expected at least token,user,uid`);
    const [token = "", name = "", uid = "", groups = ""] = fields;
    if (token === "") throw new Error(`token file, line ${index + 1}: the token is empty`);
    const list = groups === "" ? [] : groups.split(",").map((group) => group.trim());
    tokens.push({ token, user: { name, uid, groups: [...list, "system:authenticated"] } });
  }
  return tokens;
}

/** Splits one line of comma-separated values; a field in double quotes may hold commas, and `""` for a quote. */
function splitRecord(line: string): string[] {
  const fields: string[] = [];
  const pattern = /\s*(?:"((?:[^"]|"")*)"|([^,]*))\s*(?:,|$)/gy;
  for (;;) {
    const match = pattern.exec(line);
    if (!match) return fields;
    fields.push((match[1]?.replaceAll('""', '"') ?? match[2] ?? "").trim());
    if (pattern.lastIndex >= line.length && !line.endsWith(",")) return fields;
    if (pattern.lastIndex >= line.length) return [...fields, ""];
  }
}

/** Authenticates bearer tokens of `--token-auth-file`. */
export class TokenAuthenticator implements Authenticator {
  readonly #tokens: readonly { readonly bytes: Buffer; readonly found: Authenticated }[];

  constructor(tokens: readonly StaticToken[]) {
    this.#tokens = tokens.map(({ token, user }) => ({ bytes: Buffer.from(token), found: { user } }));
  }

  async authenticate({ bearerToken }: Credentials): Promise<Authenticated | undefined> {
    if (bearerToken === undefined) return undefined;
    const sent = Buffer.from(bearerToken);
    return this.#tokens.find(({ bytes }) => bytes.length === sent.length && timingSafeEqual(bytes, sent))?.found;
  }
}
