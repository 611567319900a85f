import { type Attributes, requestAttributes } from "../api/attributes.ts";
import type { ApiRequest, Call, Outcome } from "../api/call.ts";
import { parseRequestInfo, type RequestInfo } from "../api/request-info.ts";
import type { UserInfo } from "../api/user-info.ts";
import type { Random } from "../lib/random.ts";
import { type BodyContext, bodyReader } from "./read-body.ts";

const ANONYMOUS: UserInfo = { name: "system:anonymous", groups: ["system:unauthenticated"] };

/** What making calls of requests depends on. */
export interface CallContext extends BodyContext {
  /** Gives an audit id to requests that bring none. */
  readonly random: Random;
}

/** The call of a request that came by a socket. */
export function callOf(context: CallContext, request: ApiRequest): Call {
  const info = parseRequestInfo(request.method, request.path, request.query);
  const body = bodyReader(context, request, info);
  return new RequestCall({ request, info, user: ANONYMOUS, body }, context.random);
}

/** A request on its way through the stages; what few ask for is made when they do. */
export class RequestCall implements Call {
  readonly request: ApiRequest;
  readonly info: RequestInfo;
  user: UserInfo;
  impersonation: Call["impersonation"] = undefined;
  audit: Call["audit"] = undefined;
  credentialNotes: Call["credentialNotes"] = undefined;
  readonly auditId: string;
  readonly warnings: string[] = [];
  isLast = false;
  trace: Call["trace"] = undefined;
  readonly body: Call["body"];
  #attributes: Attributes | undefined;

  constructor({ request, info, user, body }: Pick<Call, "request" | "info" | "user" | "body">, random: Random) {
    this.request = request;
    this.info = info;
    this.user = user;
    const given = request.headers["audit-id"];
    this.auditId = typeof given === "string" ? given : random.uuid();
    this.body = body;
  }

  get signal(): AbortSignal {
    return this.request.signal;
  }

  whenFinished(listener: (outcome: Outcome) => void): void {
    this.request.whenFinished(listener);
  }

  get attributes(): Attributes {
    if (this.#attributes?.user !== this.user) {
      this.#attributes = requestAttributes(this.user, this.info, this.request.query);
    }
    return this.#attributes;
  }
}
