import type { X509Certificate } from "node:crypto";
import type { ApiRequest } from "../api/call.ts";
import type { UserInfo } from "../api/user-info.ts";
import type { Eventually } from "../lib/eventually.ts";

/** What a caller can be authenticated by. */
export interface Credentials {
  /** From `Authorization: Bearer`, or the token that a TokenReview asks about; or one that stood elsewhere in the request. */
  readonly bearerToken?: string | undefined;
  /** For whom a token shall be meant: at least one of these. Absent: that does not matter. */
  readonly audiences?: readonly string[];
  /** What is asked for. Absent in a TokenReview. */
  readonly path?: string;
  /** See `ApiRequest.certificateChain`. */
  readonly certificateChain?: readonly X509Certificate[];
  /** Names are lower case. What an authenticating proxy says stands here. */
  readonly headers: ApiRequest["headers"];
  readonly remoteAddress?: string | undefined;
}

/** Upstream's `authenticator.Response`: whom credentials stand for. */
export interface Authenticated {
  readonly user: UserInfo;
  /** Those of the wanted audiences that the credentials are meant for. Absent: they name nobody. */
  readonly audiences?: readonly string[];
  /** Texts for `Warning` headers, with every request that shows these credentials. */
  readonly warnings?: readonly string[];
  /** Annotations of the audit event of every request that shows these credentials. */
  readonly annotations?: Readonly<Record<string, string>>;
  /**
   * Asked before the answer is given again from a cache, so it must be cheap: false when the credentials have been withdrawn
   * since, such as by the deletion of the object that they are bound to. Absent: that is not known before the cache forgets.
   */
  readonly isStillGood?: () => boolean;
}

/** Credentials that are wrong. The text goes into logs and the status of a TokenReview, never to the caller himself. */
export class AuthenticationError extends Error {
  /** False when it is our side on which something is wrong. */
  get isExpected(): boolean {
    return true;
  }
}

/** Authenticates callers by one kind of credentials. */
export interface Authenticator {
  /**
   * Undefined: these credentials are not mine. AuthenticationError: they are mine and they are wrong. Whatever else is
   * thrown counts as a refusal, too, and is reported. Who knows the answer gives it at once: every request waits for it.
   */
  authenticate(credentials: Credentials): Eventually<Authenticated | undefined>;
}

/** The credentials that came with a request. Each is read only when somebody asks for it. */
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

  /** The `Warning` that a client deserves whose header is no credentials because of a second space before its token. */
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

/** What an Authorization header says. */
export interface Bearer {
  readonly token?: string;
  readonly hasExtraSpace?: boolean;
}

/**
 * Reads an Authorization header. Compat: as `bearertoken.Authenticator` does. Nothing but single spaces (U+0020) stands between
 * scheme and token, what follows the token is ignored, and an empty token is no credentials.
 */
export function readBearer(header = ""): Bearer {
  const [scheme = "", token = "", rest] = trimAscii(header).split(" ", 3);
  if (scheme.toLowerCase() !== "bearer") return {};
  return token === "" ? { hasExtraSpace: rest !== undefined } : { token };
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
