import type { Duplex } from "node:stream";

/** One message of a WebSocket. */
export interface ChannelMessage {
  readonly data: Uint8Array;
  readonly isBinary: boolean;
}

/** A WebSocket that has been accepted. */
export interface WebSocketChannel {
  /** The negotiated subprotocol; empty: none. */
  readonly protocol: string;
  /** What the client sends, in order, taken from the connection only as fast as it is read. Ends when the client closes. */
  readonly messages: AsyncIterable<ChannelMessage>;
  /** Sends one message, text or binary. Resolves when there is room for the next one, or nobody is left to read it. */
  send(data: string | Uint8Array): Promise<void>;
  /** Says goodbye. It happens by itself when `run` is done. */
  close(code?: number, reason?: string): void;
}

/**
 * Takes over the connection of a request once all stages have let it pass: exec, attach, port-forward. `run` has it
 * until its promise settles; when the client leaves or the server shuts down, `call.signal` aborts.
 */
export type ConnectReply =
  | {
      readonly type: "connect";
      readonly over: "websocket";
      /** Subprotocols that can be spoken; an empty one stands for a client that names none. */
      readonly protocols: readonly string[];
      run(channel: WebSocketChannel): Promise<void>;
    }
  | {
      readonly type: "connect";
      readonly over: "upgrade";
      /** As in the Upgrade header: "SPDY/3.1". */
      readonly protocol: string;
      /** Sent with 101 Switching Protocols. */
      readonly headers?: Readonly<Record<string, string>>;
      run(connection: Duplex): Promise<void>;
    };
