import type { ConnectReply } from "../../../base/api/channel.ts";

/** An encoded response, which `serving/http/` writes to a socket unchanged. */
export interface EncodedReply {
  readonly status: number;
  /** Names are lower case. The listener adds headers, so the record must not be shared. */
  readonly headers: Record<string, string | string[]>;
  /** A stream is read with backpressure. Its `return` is called when the client disconnects. */
  readonly body: Uint8Array | string | AsyncIterable<Uint8Array>;
  /** Set for streams without a defined end. The signal of their request aborts when a shutdown begins. */
  readonly isLongRunning?: boolean;
  /** Chunk boundaries of a long-running stream have no meaning. Over a WebSocket, each chunk is one binary message. */
  readonly isOpaque?: boolean;
  /** Takes over the connection instead of sending a body. Only for requests with `upgrade`. */
  readonly connect?: ConnectReply;
}

/** The first value of a header, like Go's Header.Get. */
export function headerOf(
  headers: Readonly<Record<string, string | readonly string[] | undefined>>,
  name: string,
): string | undefined {
  const value = headers[name];
  return typeof value === "string" || value === undefined ? value : value[0];
}
