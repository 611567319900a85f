import type { X509Certificate } from "node:crypto";
import type { ApiRequest } from "../api/call.ts";
import type { UserInfo } from "../api/user-info.ts";

/** What a caller can be authenticated by. */
export interface Credentials {
  /** From `Authorization: Bearer`, or the token that a TokenReview asks about. */
  readonly bearerToken?: string | undefined;
  /** See `ApiRequest.certificateChain`. */
  readonly certificateChain?: readonly X509Certificate[];
  /** Names are lower case. What an authenticating proxy says stands here. */
  readonly headers: ApiRequest["headers"];
  readonly remoteAddress?: string | undefined;
}

/** Upstream's `authenticator.Response`: whom credentials stand for. */
export interface Authenticated {
  readonly user: UserInfo;
  /** Whom the credentials are meant for. Absent: they name nobody, so they are meant for the server itself. */
  readonly audiences?: readonly string[];
}

/** Authenticates callers by one kind of credentials. */
export interface Authenticator {
  /** Undefined: these credentials are not mine. A thrown ApiError: they are mine and they are wrong. */
  authenticate(credentials: Credentials): Promise<Authenticated | undefined>;
}

/** The credentials that came with a request. Each is read only when somebody asks for it. */
export class RequestCredentials implements Credentials {
  readonly #request: ApiRequest;

  constructor(request: ApiRequest) {
    this.#request = request;
  }

  get bearerToken(): string | undefined {
    return this.#authorization.token;
  }

  /** The `Warning` that a client deserves whose header is no credentials because of a second space before its token. */
  get warning(): string | undefined {
    return this.#authorization.hasExtraSpace ? EXTRA_SPACE : undefined;
  }

  // Compat: as `bearertoken.Authenticator` reads the first Authorization header. Nothing but single spaces (U+0020) stands
  // between scheme and token, what follows the token is ignored, and an empty token is no credentials.
  get #authorization(): { readonly token?: string; readonly hasExtraSpace?: boolean } {
    const { authorization } = this.#request.headers;
    const first = typeof authorization === "string" ? authorization : authorization?.[0];
    if (first === undefined) return {};
    const [scheme = "", token = "", rest] = trimAscii(first).split(" ", 3);
    if (scheme.toLowerCase() !== "bearer") return {};
    return token === "" ? { hasExtraSpace: rest !== undefined } : { token };
  }

  get certificateChain(): readonly X509Certificate[] {
    return this.#request.certificateChain;
  }

  get headers(): ApiRequest["headers"] {
    return this.#request.headers;
  }

  get remoteAddress(): string | undefined {
    return this.#request.remoteAddress;
  }
}

const EXTRA_SPACE = "the provided Authorization header contains extra space before the bearer token, and is ignored";

/** Without white space of ASCII at its ends. `trim` would take a no-break space for nothing. */
function trimAscii(text: string): string {
  const isSpace = (at: number): boolean => /[\t-\r ]/.test(text.charAt(at));
  let start = 0;
  let end = text.length;
  while (start < end && isSpace(start)) start++;
  while (end > start && isSpace(end - 1)) end--;
  return text.slice(start, end);
}
