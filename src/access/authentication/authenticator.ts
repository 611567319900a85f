import type { X509Certificate } from "node:crypto";
import type { ApiRequest } from "../../base/api/call.ts";
import type { UserInfo } from "../../base/api/user-info.ts";
import type { Eventually } from "../../base/util/eventually.ts";

/** What a request is authenticated by. */
export interface Credentials {
  /**
   * From `Authorization: Bearer`, from elsewhere in the request (such as a WebSocket subprotocol), or from a
   * TokenReview.
   */
  readonly bearerToken?: string | undefined;
  /** The token must be issued for at least one of these audiences. If omitted, audiences are not checked. */
  readonly audiences?: readonly string[];
  /** Path of the request. Absent in a TokenReview. */
  readonly path?: string;
  /** See `ApiRequest.certificateChain`. */
  readonly certificateChain?: readonly X509Certificate[];
  /** Request headers with names in lower case, among them those of an authenticating proxy. */
  readonly headers: ApiRequest["headers"];
  readonly remoteAddress?: string | undefined;
}

/** The user that credentials belong to. Upstream: `authenticator.Response`. */
export interface Authenticated {
  readonly user: UserInfo;
  /** The wanted audiences that the credentials are issued for. Absent if the credentials name no audience. */
  readonly audiences?: readonly string[];
  /** Texts of `Warning` headers for every request with these credentials. */
  readonly warnings?: readonly string[];
  /** Audit annotations of every request with these credentials. */
  readonly annotations?: Readonly<Record<string, string>>;
  /**
   * Called before a cached result is reused, so it must be cheap. Returns false if the credentials were revoked since,
   * such as by the deletion of the object that they are bound to. If omitted, a revocation takes effect when the cache
   * entry expires.
   */
  readonly isStillGood?: () => boolean;
}

/** The credentials are wrong. The message goes to the log and into the status of a TokenReview, never to the client. */
export class AuthenticationError extends Error {
  /** False if the cause is on the server's side, such as an unreachable webhook. */
  get isExpected(): boolean {
    return true;
  }
}

/** Authenticates requests by one kind of credentials. */
export interface Authenticator {
  /**
   * Returns undefined if this authenticator is not responsible for the credentials. Throws AuthenticationError if they
   * are wrong. Any other error also rejects the request and is logged as an error. Returns synchronously if possible:
   * every request waits for it.
   */
  authenticate(credentials: Credentials): Eventually<Authenticated | undefined>;
}

/** The credentials of a request. Each one is parsed on first access. */
export class RequestCredentials implements Credentials {
  readonly #request: ApiRequest;
  #bearer: Bearer | undefined;
  readonly audiences: readonly string[];

  /** `audiences` are those of the server itself. */
  constructor(request: ApiRequest, audiences: readonly string[]) {
    this.#request = request;
    this.audiences = audiences;
  }

  get path(): string {
    return this.#request.path;
  }

  get bearerToken(): string | undefined {
    return this.#authorization.token;
  }

  /** `Warning` text for an Authorization header that is ignored because of a second space before the token. */
  get warning(): string | undefined {
    return this.#authorization.hasExtraSpace ? EXTRA_SPACE : undefined;
  }

  get #authorization(): Bearer {
    if (this.#bearer === undefined) {
      const { authorization } = this.#request.headers;
      this.#bearer = readBearer(typeof authorization === "string" ? authorization : authorization?.[0]);
    }
    return this.#bearer;
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

/** Parsed Authorization header. */
export interface Bearer {
  readonly token?: string;
  readonly hasExtraSpace?: boolean;
}

/**
 * Parses an Authorization header. Compat: like `bearertoken.Authenticator`. Only single spaces (U+0020) may separate
 * scheme and token, text after the token is ignored, and an empty token counts as no credentials.
 */
export function readBearer(header = ""): Bearer {
  const [scheme = "", token = "", rest] = trimAscii(header).split(" ", 3);
  if (scheme.toLowerCase() !== "bearer") return {};
  return token === "" ? { hasExtraSpace: rest !== undefined } : { token };
}

const EXTRA_SPACE = "the provided Authorization header contains extra space before the bearer token, and is ignored";

/** Removes leading and trailing ASCII white space. `String.trim` would also remove no-break spaces. */
function trimAscii(text: string): string {
  const isSpace = (at: number): boolean => /[\t-\r ]/.test(text.charAt(at));
  let start = 0;
  let end = text.length;
  while (start < end && isSpace(start)) start++;
  while (end > start && isSpace(end - 1)) end--;
  return text.slice(start, end);
}
