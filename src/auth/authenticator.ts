import type { ApiRequest, UserInfo } from "../api/call.ts";

/** Recognises callers by one kind of credentials. */
export interface Authenticator {
  /** Undefined: these credentials are not mine. A thrown ApiError: they are mine and they are wrong. */
  authenticate(request: ApiRequest): Promise<UserInfo | undefined>;
}
