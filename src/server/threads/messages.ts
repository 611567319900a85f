import { ApiError, receivedError } from "../../api/api-error.ts";
import type { AuditKeeps, AuditNotes, Call } from "../../api/call.ts";
import type { UserInfo } from "../../api/user-info.ts";
import type { EncodedReply } from "../../encoding/reply/encoded-reply.ts";
import type { Log, LogFields } from "../../lib/environment.ts";
import { StoreError, type StoreErrorCode } from "../../storage/store.ts";

/** A request as it travels to a thread: authenticated, authorized, and with its body read. */
export interface SentRequest {
  readonly method: string;
  readonly path: string;
  readonly query: string;
  readonly headers: Record<string, string | string[]>;
  readonly authority: string;
  readonly remoteAddress: string | undefined;
  readonly remotePort: number | undefined;
  readonly user: UserInfo;
  /** What stages have warned of before. */
  readonly warnings: readonly string[];
  /** Absent: there is none. */
  readonly body: Uint8Array | undefined;
  /** Absent: nothing is written down about it. */
  readonly audit?: AuditKeeps | undefined;
}

/** A reply as it travels back. */
export interface SentReply {
  readonly status: number;
  readonly headers: EncodedReply["headers"];
  readonly chunks: readonly Uint8Array[];
  /** The body has no Content-Length of its own. */
  readonly isStream: boolean;
  /** What is to be written down, if anything is. */
  readonly audit?: AuditNotes | undefined;
}

/** What the server's own thread tells one that works for it. */
export type ToThread =
  | { readonly type: "request"; readonly request: SentRequest }
  /** Nobody waits for the reply any more. */
  | { readonly type: "cancel" }
  | { readonly type: "answer"; readonly id: number; readonly value?: unknown; readonly error?: SentError };

/** What such a thread tells the server's own. */
export type FromThread =
  | { readonly type: "reply"; readonly reply: SentReply }
  /** Asks a part of the server that there is only once. */
  | {
      readonly type: "ask";
      readonly id: number;
      readonly part: string;
      readonly method: string;
      readonly values: readonly unknown[];
    }
  /** Whether its request now waits for somebody outside of the server, as for a webhook. */
  | { readonly type: "away"; readonly isAway: boolean }
  | { readonly type: "log"; readonly level: keyof Log; readonly text: string; readonly fields: LogFields };

/** An error on its way to another thread, which keeps no classes. */
export type SentError =
  | { readonly type: "store"; readonly code: StoreErrorCode; readonly message: string; readonly revision: number }
  | { readonly type: "api"; readonly code: number; readonly status: ApiError["status"] }
  | { readonly type: "other"; readonly message: string; readonly stack: string };

/** Makes an error ready to travel. */
export function sendError(error: unknown): SentError {
  if (error instanceof StoreError) {
    const { code, message, revision } = error;
    return { type: "store", code, message, revision };
  }
  if (error instanceof ApiError) return { type: "api", code: error.code, status: error.status };
  const { message, stack = "" } = error instanceof Error ? error : new Error(typeof error);
  return { type: "other", message, stack };
}

/** The error that arrived. */
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

/** Headers that are about the connection or are secret, and that nothing behind authentication reads. */
const LEFT_OUT: ReadonlySet<string> = new Set(["authorization", "cookie", "sec-websocket-protocol"]);

/** Makes a call ready to travel, with its Audit-ID. */
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
 * The same bytes as a message should carry them. One with a part of a larger buffer would carry all of that, so a part is
 * copied first.
 */
export function ownBytes(bytes: Uint8Array): Uint8Array<ArrayBuffer> {
  const { buffer, byteLength } = bytes;
  const isWhole = buffer instanceof ArrayBuffer && buffer.byteLength === byteLength;
  return isWhole ? new Uint8Array(buffer) : new Uint8Array(bytes);
}

/** Fewer bytes are copied faster than they change hands. */
const GIVEN_AWAY_BYTES = 64 * 1024;

/** What a message takes along instead of copying it. It is gone here afterwards. */
export function givenAway(chunks: readonly (Uint8Array | undefined)[]): ArrayBuffer[] {
  return chunks.flatMap((bytes) =>
    bytes !== undefined && bytes.length >= GIVEN_AWAY_BYTES && bytes.buffer instanceof ArrayBuffer
      ? [bytes.buffer]
      : [],
  );
}
