import type { X509Certificate } from "node:crypto";
import type { AdmissionTrace } from "./admission-trace.ts";
import type { Attributes } from "./attributes.ts";
import type { Json, JsonObject } from "./object.ts";
import type { ApiReply } from "./reply.ts";
import type { RequestInfo } from "./request-info.ts";
import type { Status } from "./status.ts";
import type { UserInfo } from "./user-info.ts";

/** One HTTP request, whichever protocol it came by. Header names are lower case. */
export interface ApiRequest {
  readonly method: string;
  /** The path, percent-decoded as far as its segments stay distinguishable, without the query. */
  readonly path: string;
  readonly query: URLSearchParams;
  /** Path and query as they were sent. */
  readonly uri: string;
  /** Without credentials as soon as the caller is known: see `hideCredentials`. */
  readonly headers: Readonly<Record<string, string | readonly string[] | undefined>>;
  /** The host and port that the client used to reach us. */
  readonly authority: string;
  /** Where the client's connection comes from; a proxy may stand in between. Undefined when there is none. */
  readonly remoteAddress: string | undefined;
  readonly remotePort: number | undefined;
  /**
   * The client's certificate and those that signed it, as it sent them: nobody has judged them yet, see `ChainVerifier`. Empty
   * when it sent none. The same array for all requests of a connection.
   */
  readonly certificateChain: readonly X509Certificate[];
  /** The protocol of the Upgrade header in lower case, where the connection can be taken over; else empty. */
  readonly upgrade: string;
  /** The whole body. Throws ApiError 413 when it exceeds `maxBytes`. A body is read at most once, this way or the other. */
  readBody(maxBytes: number): Promise<Uint8Array>;
  /** The body as it comes, taken from the connection only as fast as it is read. Throws as `readBody` does. */
  bodyStream(maxBytes?: number): AsyncIterable<Uint8Array>;
  /** Aborts when the client goes away, the server shuts down, or `abort` is called. */
  readonly signal: AbortSignal;
  /** Gives up the work on this request; it is answered all the same. */
  abort(reason?: unknown): void;
  /** See `Call.whenFinished`. */
  whenFinished(listener: (outcome: Outcome) => void): void;
}

/** How a request ended. */
export interface Outcome {
  /** 0: the client went away before it was answered. */
  readonly code: number;
  /** Of the body, as far as they were handed to the connection. */
  readonly bytes: number;
  /** Why not all of the reply was handed over. Absent: it was. */
  readonly error?: unknown;
}

/** A request on its way through the stages. Every member has a truthful value from the start. */
export interface Call {
  readonly request: ApiRequest;
  readonly info: RequestInfo;
  /** Anonymous until the authenticate stage has run. */
  user: UserInfo;
  /** Who really calls, where `user` is somebody they impersonate. */
  impersonation: Impersonation | undefined;
  /** Who wants to do what, with the `user` of this moment. Made when first asked for. */
  readonly attributes: Attributes;
  /** What is written down about the call. Undefined: nothing. */
  audit: CallAudit | undefined;
  /** What is to be written down about the credentials that made `user` known. */
  credentialNotes: Readonly<Record<string, string>> | undefined;
  /** Compat: what the client sent as Audit-ID, or a new UUID; answered as Audit-ID. */
  readonly auditId: string;
  /** Aborts when the client goes away, the server shuts down, or the deadline of the request has passed. */
  readonly signal: AbortSignal;
  /** When the work on the request is to be over, by the clock's `monotonic`. Absent: it has no deadline. */
  deadlineMs?: number;
  /**
   * Tells once when the last byte of the reply has been handed over, or the client is gone: long after the handler of a
   * watch or stream has returned. The listener must not throw.
   */
  whenFinished(listener: (outcome: Outcome) => void): void;
  /** Texts for `Warning` headers, in order. */
  readonly warnings: string[];
  /** The connection ends with this reply. */
  isLast: boolean;
  /** Hears what admission does with the call. Undefined: nobody does; no client can ask for it by a header or parameter. */
  trace: AdmissionTrace | undefined;
  /**
   * The request body, decoded in the format its content type names, or in the given one. Throws BodyError when that
   * fails. Read at most once.
   */
  body(format?: "json" | "yaml"): Promise<RequestBody>;
}

/** That somebody is taken for somebody else. */
export interface Impersonation {
  readonly by: UserInfo;
  /** The verb of the mode of constrained impersonation that allowed it; empty: the classic `impersonate`. */
  readonly constraint: string;
}

/** What is written down about a request, as far as the audit policy asks for it. */
export interface CallAudit {
  /** Adds an annotation; the first value of a key is kept. */
  annotate(key: string, value: string): void;
  /** The object or options that the client sent, with defaults, before anybody changes it. */
  sent(object: JsonObject): void;
  /** The patch that the client sent. */
  sentPatch(patch: Json): void;
  readonly keeps: AuditKeeps;
  /** Takes over what was noted in another thread. */
  take(notes: AuditNotes): void;
}

/** What is written down of objects. */
export interface AuditKeeps {
  /** Those that are sent. */
  readonly requests: boolean;
  /** Those that are answered. */
  readonly responses: boolean;
  readonly managedFields: boolean;
}

/** What was noted about a request. Objects are JSON. */
export interface AuditNotes {
  annotations: Map<string, string>;
  /** name, namespace, uid and resourceVersion of the object that was sent. */
  metadata: JsonObject;
  requestObject: string | undefined;
  responseObject: string | undefined;
  /** The Status that was answered, if it was one. */
  status: Status | undefined;
}

/** A decoded request body. */
export interface RequestBody {
  /** Null when the body is empty. */
  readonly value: Json;
  /**
   * The value for a decoder of typed JSON: with the digits of numbers that are not written as integers, which such a
   * decoder refuses for a field of integers, even 1.0. Absent: it is the same.
   */
  written?(): Json;
  readonly isEmpty: boolean;
  /** As sent. Calls from the process itself have none until somebody asks. */
  readonly bytes: Uint8Array;
  readonly format: "json" | "yaml" | "protobuf";
  /** Texts about members that stand more than once in one object, of which the last counts. */
  duplicates(): readonly string[];
}

/** A body that is not what its content type says. The message is the decoder's, without context. */
export class BodyError extends Error {
  readonly bytes: Uint8Array;
  /** What a body in protobuf says it is, where there is no such kind. */
  readonly unknownType: { readonly apiVersion: string; readonly kind: string } | undefined;

  constructor(message: string, bytes: Uint8Array, unknownType?: BodyError["unknownType"]) {
    super(message);
    this.name = "BodyError";
    this.bytes = bytes;
    this.unknownType = unknownType;
  }
}

/** Answers a call; throws ApiError to refuse it. */
export type Handler = (call: Call) => Promise<ApiReply>;
/** Wraps a handler with one concern. */
export type Stage = (next: Handler) => Handler;
