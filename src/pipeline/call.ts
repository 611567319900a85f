import { type Attributes, requestAttributes } from "../api/attributes.ts";
import type { ApiRequest, Call, RequestBody } from "../api/call.ts";
import type { Json } from "../api/object.ts";
import { parseRequestInfo, type RequestInfo } from "../api/request-info.ts";
import type { UserInfo } from "../api/user-info.ts";
import type { Random } from "../lib/random.ts";
import { type BodyContext, bodyReader, givenBody } from "./read-body.ts";

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

class RequestCall implements Call {
  readonly request: ApiRequest;
  readonly info: RequestInfo;
  user: UserInfo;
  readonly auditId: string;
  readonly warnings: string[] = [];
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

  get attributes(): Attributes {
    if (this.#attributes?.user !== this.user) {
      this.#attributes = requestAttributes(this.user, this.info, this.request.query);
    }
    return this.#attributes;
  }
}

/** What a part of this process wants to ask the server. */
export interface CallRequest {
  readonly method: string;
  /** Without the query. */
  readonly path: string;
  readonly query?: URLSearchParams;
  /** Names in lower case. Patches need their content-type; the field manager is taken from user-agent. */
  readonly headers?: Readonly<Record<string, string>>;
  /** Given away: verbs may keep parts of it. Absent: there is no body. */
  readonly body?: Json;
  readonly user: UserInfo;
  /** Ends watches, and whatever else can be ended. */
  readonly signal?: AbortSignal;
}

/** A call that comes from this process: no socket, no bytes. For a handler composed with `keepUser`. */
export function makeCall(wanted: CallRequest, random: Random): Call {
  const request = new InProcessRequest(wanted);
  const info = parseRequestInfo(request.method, request.path, request.query);
  const body = async (): Promise<RequestBody> => givenBody(wanted.body);
  return new RequestCall({ request, info, user: wanted.user, body }, random);
}

class InProcessRequest implements ApiRequest {
  readonly method: string;
  readonly path: string;
  readonly query: URLSearchParams;
  readonly headers: ApiRequest["headers"];
  readonly authority: string;
  readonly remoteAddress = undefined;
  readonly remotePort = undefined;
  readonly certificateChain = [];
  readonly #body: Json | undefined;
  #signal: AbortSignal | undefined;

  constructor({ method, path, query, headers, body, signal }: CallRequest) {
    this.method = method;
    this.path = path;
    this.query = query ?? new URLSearchParams();
    this.headers = headers ?? {};
    this.authority = headers?.host ?? "";
    this.#body = body;
    this.#signal = signal;
  }

  get signal(): AbortSignal {
    this.#signal ??= new AbortController().signal;
    return this.#signal;
  }

  async readBody(): Promise<Uint8Array> {
    return givenBody(this.#body).bytes;
  }
}
