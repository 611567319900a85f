import type { ConnectReply } from "../../api/channel.ts";

/** A reply as bytes: what `http/` writes to a socket without looking into it. */
export interface EncodedReply {
  readonly status: number;
  /** Names are lower case. The listener adds its own members, so the record must not be shared. */
  readonly headers: Record<string, string | string[]>;
  /** A stream is read only as fast as the client takes it; its `return` is called when the client goes away. */
  readonly body: Uint8Array | string | AsyncIterable<Uint8Array>;
  /** Present on streams that last until somebody ends them: their request's signal aborts when a shutdown begins. */
  readonly isLongRunning?: boolean;
  /** Where a chunk of a long-running stream ends means nothing: over a WebSocket each chunk is one binary message. */
  readonly isOpaque?: boolean;
  /** Takes over the connection instead; the body is empty. Only for requests with an `upgrade`. */
  readonly connect?: ConnectReply;
}

/** The first value of a header, as Go's Header.Get gives it. */
export function headerOf(
  headers: Readonly<Record<string, string | readonly string[] | undefined>>,
  name: string,
): string | undefined {
  const value = headers[name];
  return typeof value === "string" || value === undefined ? value : value[0];
}
