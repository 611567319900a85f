import { type Attributes, requestAttributes } from "../../base/api/attributes.ts";
import type { ApiRequest, Call, Outcome } from "../../base/api/call.ts";
import { parseRequestInfo, type RequestInfo } from "../../base/api/request-info.ts";
import type { UserInfo } from "../../base/api/user-info.ts";
import type { Random } from "../../base/util/random.ts";
import { type BodyContext, bodyReader } from "./read-body.ts";

/** The user of a call that is not authenticated yet. */
export const UNKNOWN_USER: UserInfo = { name: "system:anonymous", groups: ["system:unauthenticated"] };

/** Dependencies of `callOf`. */
export interface CallContext extends BodyContext {
  /** Source of audit ids for requests without an Audit-ID header. */
  readonly random: Random;
}

/** Creates the call for a request received on a socket. */
export function callOf(context: CallContext, request: ApiRequest): Call {
  const info = parseRequestInfo(request.method, request.path, request.query);
  const body = bodyReader(context, request, info);
  return new RequestCall({ request, info, user: UNKNOWN_USER, body }, context.random);
}

/** A request on its way through the stages. Authorization attributes are computed on first use. */
export class RequestCall implements Call {
  readonly request: ApiRequest;
  readonly info: RequestInfo;
  user: UserInfo;
  impersonation: Call["impersonation"] = undefined;
  audit: Call["audit"] = undefined;
  flow: Call["flow"] = undefined;
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
