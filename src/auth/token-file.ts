import { hash } from "node:crypto";
import type { UserInfo } from "../api/user-info.ts";
import type { Authenticated, Authenticator, Credentials } from "./authenticator.ts";

/** A token and whom it stands for. */
export interface StaticToken {
  readonly token: string;
  readonly user: UserInfo;
}

/**
 * Reads the text of a token file: records of `token,user name,uid[,"group,group"]`. Throws an Error that names the file
 * when one cannot be read. `warn` hears of records that name no token.
 */
export function parseTokenFile(text: string, file: string, warn: (text: string) => void): StaticToken[] {
  const tokens: StaticToken[] = [];
  for (const [index, fields] of readRecords(text, file).entries()) {
    // Compat: the texts are those of `tokenfile.NewCSV`.
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

/** A field with what ends it. A quoted one may hold commas and line breaks, and `""` for a quote. */
const FIELD = /(?:"((?:[^"]|"")*)"|([^",\n]*))(,|\n|$)/y;

/** Compat: the records that Go's `encoding/csv` reads, which skips empty lines and trims nothing. */
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
      throw new Error(`token file '${file}', line ${line}: a quote is missing, or stands inside a field`);
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

/** Authenticates bearer tokens of `--token-auth-file`. The last of several users with one token is taken, as upstream does. */
export class TokenAuthenticator implements Authenticator {
  /** By their hashes: how long a search takes tells nothing about a token. */
  readonly #tokens: ReadonlyMap<string, Authenticated>;

  /** Throws an Error when a token is empty: everybody has that. */
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
