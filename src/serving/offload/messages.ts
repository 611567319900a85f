import { ApiError, receivedError } from "../../base/api/api-error.ts";
import type { AuditKeeps, AuditNotes, Call } from "../../base/api/call.ts";
import type { UserInfo } from "../../base/api/user-info.ts";
import type { Log, LogFields } from "../../base/util/environment.ts";
import type { EncodedReply } from "../../data/encoding/reply/encoded-reply.ts";
import { StoreError, type StoreErrorCode } from "../../storage/store.ts";

/** A request as sent to a worker thread: authenticated, authorized, and with its body read. */
export interface SentRequest {
  readonly method: string;
  readonly path: string;
  readonly query: string;
  readonly headers: Record<string, string | string[]>;
  readonly authority: string;
  readonly remoteAddress: string | undefined;
  readonly remotePort: number | undefined;
  readonly user: UserInfo;
  /** Warnings of earlier stages. */
  readonly warnings: readonly string[];
  /** Undefined if there is no body. */
  readonly body: Uint8Array | undefined;
  /** Undefined if the request is not audited. */
  readonly audit?: AuditKeeps | undefined;
}

/** A reply as sent back by a worker thread. */
export interface SentReply {
  readonly status: number;
  readonly headers: EncodedReply["headers"];
  readonly chunks: readonly Uint8Array[];
  /** The body is streamed, without Content-Length. */
  readonly isStream: boolean;
  /** Data for the audit event, if the request is audited. */
  readonly audit?: AuditNotes | undefined;
  /** Processor time that the thread has used for the request. */
  readonly usedMs: number;
}

/** Messages from the main thread to a worker thread. */
export type ToThread =
  | { readonly type: "request"; readonly request: SentRequest }
  /** The client no longer waits for the reply. */
  | { readonly type: "cancel" }
  | { readonly type: "answer"; readonly id: number; readonly value?: unknown; readonly error?: SentError };

/** Messages from a worker thread to the main thread. */
export type FromThread =
  /** The program is loaded. */
  | { readonly type: "ready" }
  | { readonly type: "reply"; readonly reply: SentReply }
  /** Calls a part of the server that only the main thread has. */
  | {
      readonly type: "ask";
      readonly id: number;
      readonly part: string;
      readonly method: string;
      readonly values: readonly unknown[];
    }
  /** Whether its request waits for an external server, such as a webhook. */
  | { readonly type: "away"; readonly isAway: boolean }
  | { readonly type: "log"; readonly level: keyof Log; readonly text: string; readonly fields: LogFields };

/** An error as plain data, because messages do not preserve classes. */
export type SentError =
  | { readonly type: "store"; readonly code: StoreErrorCode; readonly message: string; readonly revision: number }
  | { readonly type: "api"; readonly code: number; readonly status: ApiError["status"] }
  | { readonly type: "other"; readonly message: string; readonly stack: string };

/** Converts an error to plain data. */
export function sendError(error: unknown): SentError {
  if (error instanceof StoreError) {
    const { code, message, revision } = error;
    return { type: "store", code, message, revision };
  }
  if (error instanceof ApiError) return { type: "api", code: error.code, status: error.status };
  const { message, stack = "" } = error instanceof Error ? error : new Error(typeof error);
  return { type: "other", message, stack };
}

/** Restores an error from plain data. */
export function receiveError(error: SentError): Error {
  switch (error.type) {
    case "store":
      return new StoreError(error.code, error.message, { revision: error.revision });
    case "api":
      return receivedError(error.code, error.status);
    case "other":
      return Object.assign(new Error(error.message), { stack: error.stack });
  }
}

/** Secret or connection-related headers that no stage after authentication reads. */
const LEFT_OUT: ReadonlySet<string> = new Set(["authorization", "cookie", "sec-websocket-protocol"]);

/** Converts a call to plain data, including its Audit-ID. */
export function sendRequest(call: Call, body: Uint8Array | undefined): SentRequest {
  const { method, path, query, authority, remoteAddress, remotePort } = call.request;
  const headers: SentRequest["headers"] = {};
  for (const [name, value] of Object.entries(call.request.headers)) {
    if (value === undefined || name.startsWith(":") || LEFT_OUT.has(name)) continue;
    headers[name] = typeof value === "string" ? value : [...value];
  }
  headers["audit-id"] = call.auditId;
  return {
    ...{ method, path, query: query.toString(), headers, authority, remoteAddress, remotePort },
    ...{ user: call.user, warnings: call.warnings, body: body && ownBytes(body) },
    audit: call.audit?.keeps,
  };
}

/**
 * Bytes suitable for a message. A slice of a larger buffer is copied, because the message would contain the whole
 * buffer.
 */
export function ownBytes(bytes: Uint8Array): Uint8Array<ArrayBuffer> {
  const { buffer, byteLength } = bytes;
  const isWhole = buffer instanceof ArrayBuffer && buffer.byteLength === byteLength;
  return isWhole ? new Uint8Array(buffer) : new Uint8Array(bytes);
}

/** Smaller buffers are faster to copy than to transfer. */
const GIVEN_AWAY_BYTES = 64 * 1024;

/** The buffers that a message transfers instead of copying. They are detached afterwards. */
export function givenAway(chunks: readonly (Uint8Array | undefined)[]): ArrayBuffer[] {
  return chunks.flatMap((bytes) =>
    bytes !== undefined && bytes.length >= GIVEN_AWAY_BYTES && bytes.buffer instanceof ArrayBuffer
      ? [bytes.buffer]
      : [],
  );
}
