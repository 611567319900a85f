import type { Duplex } from "node:stream";

/** One message of a WebSocket. */
export interface ChannelMessage {
  readonly data: Uint8Array;
  readonly isBinary: boolean;
}

/** An accepted WebSocket. */
export interface WebSocketChannel {
  /** The negotiated subprotocol. Empty if none was negotiated. */
  readonly protocol: string;
  /** The messages of the client in order, with backpressure. Ends when the client closes the WebSocket. */
  readonly messages: AsyncIterable<ChannelMessage>;
  /**
   * Sends one message, text or binary. Resolves when there is room for the next message, or the client has
   * disconnected.
   */
  send(data: string | Uint8Array): Promise<void>;
  /** Sends a close frame. Called automatically when `run` settles. */
  close(code?: number, reason?: string): void;
}

/**
 * Takes over the connection of a request after all stages have passed: exec, attach, port-forward. `run` owns it until
 * its promise settles. `call.signal` aborts when the client disconnects or the server shuts down.
 */
export type ConnectReply =
  | {
      readonly type: "connect";
      readonly over: "websocket";
      /** Supported subprotocols. An empty string accepts clients that name no subprotocol. */
      readonly protocols: readonly string[];
      run(channel: WebSocketChannel): Promise<void>;
    }
  | {
      readonly type: "connect";
      readonly over: "upgrade";
      /** As in the Upgrade header, for example "SPDY/3.1". */
      readonly protocol: string;
      /** Sent with 101 Switching Protocols. */
      readonly headers?: Readonly<Record<string, string>>;
      run(connection: Duplex): Promise<void>;
    };
