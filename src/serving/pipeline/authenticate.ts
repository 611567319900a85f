import { ANONYMOUS } from "../../access/authentication/authenticated-group.ts";
import {
  type Authenticated,
  type Authenticator,
  RequestCredentials,
} from "../../access/authentication/authenticator.ts";
import { hideCredentials, type ProxyHeaders } from "../../access/authentication/credential-headers.ts";
import { unauthorized } from "../../base/api/api-error.ts";
import type { Call, Handler, Stage } from "../../base/api/call.ts";
import type { Eventually } from "../../base/util/eventually.ts";

/** Options of the authentication stage. */
export interface AuthenticationOptions {
  readonly authenticator: Authenticator;
  /** Accepted token audiences. A token without audiences is accepted too. */
  readonly audiences: readonly string[];
  /** Front-proxy headers to remove from authenticated requests, in addition to the default ones. */
  readonly proxyHeaders?: ProxyHeaders | undefined;
  /** Receives the cause; the client only sees 401. */
  readonly refused: (error: unknown, call: Call) => void;
  /** Optional. Receives the result and duration of each attempt, for metrics. */
  readonly observer?: AuthenticationObserver;
}

/** Receives the result of each authentication attempt. */
export interface AuthenticationObserver {
  readonly clock: { monotonic(): number };
  /** `error`: wrong credentials or audiences. `failure`: no known credentials. `name` is the user name, or empty. */
  authenticated(result: "success" | "failure" | "error", name: string, seconds: number): void;
}

const UNOBSERVED: AuthenticationObserver = { clock: { monotonic: () => 0 }, authenticated: () => {} };

/** Authenticates the caller and sets `call.user`. Wrong or missing credentials get a 401 without details. */
export function authenticate(options: AuthenticationOptions): Stage {
  const { authenticator, audiences, proxyHeaders, refused, observer = UNOBSERVED } = options;
  const { clock } = observer;
  /** Continues with the outcome of an attempt: the user, or why there is none. */
  const conclude = (call: Call, next: Handler, attempt: Attempt, found: Authenticated | undefined, isWrong = false) => {
    const { request, warnings } = call;
    const { credentials, startMs } = attempt;
    const isOurs = found !== undefined && isForUs(found, audiences);
    const result = isOurs ? "success" : isWrong || found !== undefined ? "error" : "failure";
    observer.authenticated(result, found?.user.name ?? "", (clock.monotonic() - startMs) / 1000);
    const { warning } = credentials;
    if (warning !== undefined) warnings.push(warning);
    // Compat: UnauthenticatedHTTP2DOSMitigation. An unauthenticated HTTP/2 connection is closed after one response.
    if (request.headers[":method"] !== undefined && isUnauthenticated(found)) call.isLast = true;
    if (found === undefined || !isOurs) throw unauthorized();
    for (const text of found.warnings ?? []) warnings.push(text);
    call.user = found.user;
    call.credentialNotes = found.annotations;
    hideCredentials(request.headers, proxyHeaders);
    return next(call);
  };
  return (next) => (call) => {
    const credentials = new RequestCredentials(call.request, audiences);
    const attempt = { credentials, startMs: clock.monotonic() };
    const fail = (error: unknown) => {
      refused(error, call);
      return conclude(call, next, attempt, undefined, true);
    };
    let finding: Eventually<Authenticated | undefined>;
    try {
      finding = authenticator.authenticate(credentials);
    } catch (error) {
      return fail(error);
    }
    if (finding instanceof Promise) return finding.then((found) => conclude(call, next, attempt, found), fail);
    return conclude(call, next, attempt, finding);
  };
}

/** An attempt to find out who calls. */
interface Attempt {
  readonly credentials: RequestCredentials;
  readonly startMs: number;
}

/** Compat: `isAnonymousUser`; also true if authentication failed. */
function isUnauthenticated(found: Authenticated | undefined): boolean {
  return found === undefined || found.user.name === ANONYMOUS || found.user.groups.includes("system:unauthenticated");
}

/** Compat: `audiencesAreAcceptable`. */
function isForUs(found: Authenticated, own: readonly string[]): boolean {
  if (found.audiences === undefined || found.audiences.length === 0 || own.length === 0) return true;
  return found.audiences.some((audience) => own.includes(audience));
}

/** Takes the user that a request of the embedding program states. Throws Unauthorized if it states none. */
export function takeStatedUser(proxyHeaders: ProxyHeaders | undefined): Stage {
  return (next) => (call) => {
    const { user, headers } = call.request;
    if (user === undefined) throw unauthorized();
    call.user = user;
    hideCredentials(headers, proxyHeaders);
    return next(call);
  };
}

/** Keeps the user that an in-process call already has, see `makeCall`. */
export const keepUser: Stage = (next) => next;
