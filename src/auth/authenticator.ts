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
    const { authorization } = this.#request.headers;
    if (typeof authorization !== "string") return undefined;
    return BEARER.exec(authorization)?.[1]?.trim();
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

const BEARER = /^Bearer\s+(.+)$/i;
