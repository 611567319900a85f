import type { X509Certificate } from "node:crypto";
import type { Eventually } from "../util/eventually.ts";
import type { AdmissionTrace } from "./admission-trace.ts";
import type { Attributes } from "./attributes.ts";
import type { Json, JsonObject } from "./object.ts";
import type { ApiReply } from "./reply.ts";
import type { RequestInfo } from "./request-info.ts";
import type { Status } from "./status.ts";
import type { UserInfo } from "./user-info.ts";

/** One HTTP request of any protocol version. Header names are lower case. */
export interface ApiRequest {
  readonly method: string;
  /** The path without the query, percent-decoded as far as its segments stay distinguishable. */
  readonly path: string;
  readonly query: URLSearchParams;
  /** Path and query as they were sent. */
  readonly uri: string;
  /** Credentials are removed once the caller is authenticated: see `hideCredentials`. */
  readonly headers: Readonly<Record<string, string | readonly string[] | undefined>>;
  /** The host and port that the client used to reach us. */
  readonly authority: string;
  /** The user that a request of the embedding program states: see `takeStatedUser`. Requests of sockets have none. */
  readonly user?: UserInfo;
  /** The remote address of the connection, which may be a proxy. Undefined if there is no connection. */
  readonly remoteAddress: string | undefined;
  readonly remotePort: number | undefined;
  /**
   * The client certificate and its intermediates, as sent and not yet verified: see `ChainVerifier`. Empty if the
   * client sent no certificate. The same array for all requests of a connection.
   */
  readonly certificateChain: readonly X509Certificate[];
  /** The protocol of the Upgrade header in lower case if the connection can be upgraded, otherwise empty. */
  readonly upgrade: string;
  /**
   * Reads the whole body. Throws ApiError 413 if it exceeds `maxBytes`. A body can be read only once, by `readBody` or
   * `bodyStream`.
   */
  readBody(maxBytes: number): Promise<Uint8Array>;
  /** Streams the body with backpressure. Throws like `readBody`. */
  bodyStream(maxBytes?: number): AsyncIterable<Uint8Array>;
  /** Aborts when the client disconnects, the server shuts down, or `abort` is called. */
  readonly signal: AbortSignal;
  /** Cancels the work on this request. It still gets a response. */
  abort(reason?: unknown): void;
  /** See `Call.whenFinished`. */
  whenFinished(listener: (outcome: Outcome) => void): void;
}

/** How a request ended. */
export interface Outcome {
  /** 0: the client disconnected before the response. */
  readonly code: number;
  /** The number of body bytes that were written to the connection. */
  readonly bytes: number;
  /** Why the response was not written completely. Omitted if it was. */
  readonly error?: unknown;
}

/** A request on its way through the stages. Every member has a valid value from the start. */
export interface Call {
  readonly request: ApiRequest;
  readonly info: RequestInfo;
  /** Anonymous until the authenticate stage has run. */
  user: UserInfo;
  /** The real caller, if `user` is impersonated. */
  impersonation: Impersonation | undefined;
  /** The authorization attributes for the current `user`. Computed on first access. */
  readonly attributes: Attributes;
  /** The audit record of the call. Undefined if the call is not audited. */
  audit: CallAudit | undefined;
  /** The FlowSchema and priority level that the call belongs to. Undefined if there is no priority and fairness. */
  flow: FlowIds | undefined;
  /** Audit annotations about the credentials that authenticated `user`. */
  credentialNotes: Readonly<Record<string, string>> | undefined;
  /** Compat: the Audit-ID header of the client, or a new UUID. Returned as Audit-ID. */
  readonly auditId: string;
  /** Aborts when the client disconnects, the server shuts down, or the deadline of the request has passed. */
  readonly signal: AbortSignal;
  /** The deadline of the request, by the clock's `monotonic`. Omitted if it has no deadline. */
  deadlineMs?: number;
  /**
   * Calls the listener once, after the last byte of the response was written or the client disconnected. For watches
   * and streams, that is long after the handler has returned. The listener must not throw.
   */
  whenFinished(listener: (outcome: Outcome) => void): void;
  /** Texts for `Warning` headers, in order. */
  readonly warnings: string[];
  /** Whether the connection is closed after this response. */
  isLast: boolean;
  /**
   * Records what admission does with the call. Undefined: no trace. A client cannot enable it by a header or parameter.
   */
  trace: AdmissionTrace | undefined;
  /**
   * Decodes the request body in the format of its content type, or in the given format. Throws BodyError if decoding
   * fails. The body can be read only once.
   */
  body(format?: "json" | "yaml"): Promise<RequestBody>;
}

/** The UIDs of a FlowSchema and a priority level. Empty if there is no object. */
export interface FlowIds {
  readonly schema: string;
  readonly level: string;
}

/** The impersonation of a user by another one. */
export interface Impersonation {
  readonly by: UserInfo;
  /** The verb of constrained impersonation that allowed it. Empty: the classic `impersonate`. */
  readonly constraint: string;
}

/** The audit record of a request, as far as the audit policy requires it. */
export interface CallAudit {
  /** Adds an annotation. Later values of the same key are ignored. */
  annotate(key: string, value: string): void;
  /** Records the object or options in the request, with defaults, before admission changes them. */
  sent(object: JsonObject): void;
  /** Records the patch in the request. */
  sentPatch(patch: Json): void;
  readonly keeps: AuditKeeps;
  /** Adds the notes of another thread. */
  take(notes: AuditNotes): void;
}

/** Which objects the audit record contains. */
export interface AuditKeeps {
  /** Whether request objects are recorded. */
  readonly requests: boolean;
  /** Whether response objects are recorded. */
  readonly responses: boolean;
  readonly managedFields: boolean;
}

/** Audit data of a request. Objects are JSON. */
export interface AuditNotes {
  annotations: Map<string, string>;
  /** name, namespace, uid and resourceVersion of the request object. */
  metadata: JsonObject;
  requestObject: string | undefined;
  responseObject: string | undefined;
  /** The Status of the response, if it has one. */
  status: Status | undefined;
}

/** A decoded request body. */
export interface RequestBody {
  /** Null if the body is empty. */
  readonly value: Json;
  /**
   * The value for a decoder of typed JSON. It keeps the digits of numbers that are not written as integers, because
   * such a decoder rejects even 1.0 for an integer field. Omitted if it equals `value`.
   */
  written?(): Json;
  readonly isEmpty: boolean;
  /** As sent. For in-process calls, encoded on first access. */
  readonly bytes: Uint8Array;
  readonly format: "json" | "yaml" | "protobuf";
  /** Messages about members that occur more than once in an object. The last one takes effect. */
  duplicates(): readonly string[];
}

/** The body does not match its content type. The message is that of the decoder, without context. */
export class BodyError extends Error {
  readonly bytes: Uint8Array;
  /** The type that a protobuf body declares, if there is no such kind. */
  readonly unknownType: { readonly apiVersion: string; readonly kind: string } | undefined;

  constructor(message: string, bytes: Uint8Array, unknownType?: BodyError["unknownType"]) {
    super(message);
    this.name = "BodyError";
    this.bytes = bytes;
    this.unknownType = unknownType;
  }
}

/** Responds to a call. Throws ApiError to reject it. */
export type Handler = (call: Call) => Eventually<ApiReply>;
/** Wraps a handler with one concern. */
export type Stage = (next: Handler) => Handler;
