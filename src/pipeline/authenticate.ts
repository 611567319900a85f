import { unauthorized } from "../api/api-error.ts";
import type { Call, Stage } from "../api/call.ts";
import { ANONYMOUS } from "../auth/authenticated-group.ts";
import { type Authenticated, type Authenticator, RequestCredentials } from "../auth/authenticator.ts";
import { hideCredentials, type ProxyHeaders } from "../auth/credential-headers.ts";

/** How callers are recognised. */
export interface AuthenticationOptions {
  readonly authenticator: Authenticator;
  /** For whom tokens must be meant that name anybody: this server. */
  readonly audiences: readonly string[];
  /** What nobody behind this stage sees, besides the standard headers of proxies. */
  readonly proxyHeaders?: ProxyHeaders | undefined;
  /** Hears why somebody was refused; he himself does not. */
  readonly refused: (error: unknown, call: Call) => void;
  /** Hears how it ended, and how long it took. Absent: nobody does. */
  readonly observer?: AuthenticationObserver;
}

/** Hears who was recognised. */
export interface AuthenticationObserver {
  readonly clock: { monotonic(): number };
  /** Error: wrong credentials. Failure: none that anybody knows. The name is that of the user. */
  authenticated(result: "success" | "failure" | "error", name: string, seconds: number): void;
}

const UNOBSERVED: AuthenticationObserver = { clock: { monotonic: () => 0 }, authenticated: () => {} };

/** Makes the caller known. Whoever shows wrong credentials is refused with a 401 that says nothing more. */
export function authenticate(options: AuthenticationOptions): Stage {
  const { authenticator, audiences, proxyHeaders, refused, observer = UNOBSERVED } = options;
  const { clock } = observer;
  return (next) => async (call) => {
    const { request, warnings } = call;
    const credentials = new RequestCredentials(request, audiences);
    const startMs = clock.monotonic();
    let found: Authenticated | undefined;
    let isWrong = false;
    try {
      const answer = authenticator.authenticate(credentials);
      found = answer instanceof Promise ? await answer : answer;
    } catch (error) {
      isWrong = true;
      refused(error, call);
    }
    const isOurs = found !== undefined && isForUs(found, audiences);
    const result = isOurs ? "success" : isWrong || found !== undefined ? "error" : "failure";
    observer.authenticated(result, found?.user.name ?? "", (clock.monotonic() - startMs) / 1000);
    const { warning } = credentials;
    if (warning !== undefined) warnings.push(warning);
    // Compat: UnauthenticatedHTTP2DOSMitigation. Whoever is nobody gets one answer from an HTTP/2 connection.
    if (request.headers[":method"] !== undefined && isNobody(found)) call.isLast = true;
    if (found === undefined || !isOurs) throw unauthorized();
    for (const text of found.warnings ?? []) warnings.push(text);
    call.user = found.user;
    call.credentialNotes = found.annotations;
    hideCredentials(request.headers, proxyHeaders);
    // Stages behind this one may throw at once; waiting for them here is cheaper than handing their promise on.
    return await next(call);
  };
}

/** Compat: `isAnonymousUser`, and those who are refused. */
function isNobody(found: Authenticated | undefined): boolean {
  return found === undefined || found.user.name === ANONYMOUS || found.user.groups.includes("system:unauthenticated");
}

/** Compat: `audiencesAreAcceptable`. */
function isForUs(found: Authenticated, own: readonly string[]): boolean {
  if (found.audiences === undefined || found.audiences.length === 0 || own.length === 0) return true;
  return found.audiences.some((audience) => own.includes(audience));
}

/** Leaves the user that the call was made with: calls from the process itself, see `makeCall`. */
export const keepUser: Stage = (next) => next;
