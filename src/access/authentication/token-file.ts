import { hash } from "node:crypto";
import type { UserInfo } from "../../base/api/user-info.ts";
import type { Authenticated, Authenticator, Credentials } from "./authenticator.ts";

/** A token and its user. */
export interface StaticToken {
  readonly token: string;
  readonly user: UserInfo;
}

/**
 * Parses a token file: records of `token,user name,uid[,"group,group"]`. Throws an Error that names the file if a
 * record is malformed. Records without a token are skipped and reported to `warn`.
 */
export function parseTokenFile(text: string, file: string, warn: (text: string) => void): StaticToken[] {
  const tokens: StaticToken[] = [];
  for (const [index, fields] of readRecords(text, file).entries()) {
    // Compat: the messages of `tokenfile.NewCSV`.
    if (fields.length < 3) {
      const columns = "at least 3 columns (token, user name, user uid)";
      throw new Error(`token file '${file}' must have ${columns}, found ${fields.length}`);
    }
    const [token = "", name = "", uid = "", groups = ""] = fields;
    if (token === "") {
      warn(`empty token has been found in token file '${file}', record number '${index + 1}'`);
      continue;
    }
    const list = groups === "" ? [] : groups.split(",");
    tokens.push({ token, user: { name, uid, groups: list } });
  }
  return tokens;
}

/** A field with its terminator. A quoted field may contain commas and line breaks, and `""` for a quote. */
const FIELD = /(?:"((?:[^"]|"")*)"|([^",\n]*))(,|\n|$)/y;

/** Compat: reads records like Go's `encoding/csv`, which skips empty lines and trims nothing. */
function readRecords(text: string, file: string): string[][] {
  const lines = text.replaceAll("\r\n", "\n");
  const records: string[][] = [];
  let record: string[] = [];
  FIELD.lastIndex = 0;
  while (FIELD.lastIndex < lines.length || record.length > 0) {
    const start = FIELD.lastIndex;
    const match = FIELD.exec(lines);
    if (match === null) {
      const line = lines.slice(0, start).split("\n").length;
      throw new Error(`token file '${file}', line ${line}: missing quote, or quote inside a field`);
    }
    const [whole, quoted, bare = "", end] = match;
    if (whole === "\n" && record.length === 0) continue;
    record.push(quoted?.replaceAll('""', '"') ?? bare);
    if (end === ",") continue;
    records.push(record);
    record = [];
  }
  return records;
}

/**
 * Authenticates the bearer tokens of `--token-auth-file`. Compat: like in `tokenfile.NewCSV`,
 * the last user of a repeated token wins.
 */
export class TokenAuthenticator implements Authenticator {
  /** By hash, so that the duration of a lookup reveals nothing about a token. */
  readonly #tokens: ReadonlyMap<string, Authenticated>;

  /** Throws an Error if a token is empty. */
  constructor(tokens: readonly StaticToken[]) {
    this.#tokens = new Map(
      tokens.map(({ token, user }) => {
        if (token.trim() === "") throw new Error(`the token of user ${user.name} is empty`);
        return [hash("sha256", token), { user }];
      }),
    );
  }

  async authenticate({ bearerToken }: Credentials): Promise<Authenticated | undefined> {
    if (bearerToken === undefined || bearerToken === "") return undefined;
    return this.#tokens.get(hash("sha256", bearerToken));
  }
}
