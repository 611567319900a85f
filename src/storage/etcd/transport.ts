/** The gRPC status codes that are handled here. */
export const grpcStatus = {
  ok: 0,
  canceled: 1,
  unknown: 2,
  invalidArgument: 3,
  deadlineExceeded: 4,
  notFound: 5,
  permissionDenied: 7,
  resourceExhausted: 8,
  failedPrecondition: 9,
  outOfRange: 11,
  unimplemented: 12,
  internal: 13,
  unavailable: 14,
  unauthenticated: 16,
} as const;

/** A call that did not end with status OK. */
export class GrpcError extends Error {
  readonly code: number;
  /** False if the server certainly did not process the request, so that even a write may be repeated. */
  readonly mayHaveHappened: boolean;

  constructor(code: number, message: string, options: { mayHaveHappened?: boolean; cause?: unknown } = {}) {
    super(message, { cause: options.cause });
    this.name = "GrpcError";
    this.code = code;
    this.mayHaveHappened = options.mayHaveHappened ?? true;
  }
}

/** One open call that sends and receives any number of messages. */
export interface MessageStream {
  /** Queues a message; ignored once the call has ended. */
  write(message: Uint8Array): void;
  /** Received messages in order, read once. Ends when the server ends the call with OK, otherwise throws GrpcError. */
  readonly messages: AsyncIterable<Uint8Array>;
  /** See `Connection.check`. */
  check(): void;
  /** Abandons the call; `messages` then ends without an error. */
  cancel(): void;
}

/** How long a call may take, and whether it may be repeated. */
export interface CallOptions {
  /** Time limit, retries included. */
  readonly timeoutMs: number;
  /** "read": repeated if a server was unavailable. "write": repeated only if it certainly did not happen. */
  readonly kind: "read" | "write";
}

/** gRPC calls to any reachable server. */
export interface Transport {
  unary(path: string, request: Uint8Array, options: CallOptions): Promise<Uint8Array>;
  /** Opens a call on a server that has a leader. It is not repeated if the connection breaks. */
  stream(path: string): Promise<MessageStream>;
  /** Makes later calls prefer a server other than the current one. */
  avoidCurrent(): void;
  /** Ends every call and connection. */
  close(): void;
}

/** One HTTP/2 connection to one server. */
export interface Connection {
  /** Fails with `deadlineExceeded` after `timeoutMs`. */
  unary(path: string, request: Uint8Array, timeoutMs: number): Promise<Uint8Array>;
  stream(path: string): MessageStream;
  /** True once no new calls may be started on it. */
  readonly isLost: boolean;
  /** True once the connection is closed. */
  readonly isClosed: boolean;
  /** PINGs the server, unless one was sent recently, and closes the connection if there is no response. */
  check(): void;
  /** Lets running calls finish and then closes. */
  drain(): void;
  /** Closes the connection now; running calls fail as unavailable. */
  destroy(): void;
}

/** PEM contents for connections to `https` endpoints. */
export interface TlsMaterial {
  readonly ca?: string | Buffer;
  readonly certificate?: string | Buffer;
  readonly key?: string | Buffer;
}

/** Where and how to connect. */
export interface ConnectOptions {
  readonly url: URL;
  readonly tls?: TlsMaterial;
  readonly timeoutMs: number;
  /** Aborts connecting. */
  readonly signal: AbortSignal;
  /** Interval of PINGs; a connection without a response within `pingTimeoutMs` is closed. */
  readonly pingIntervalMs: number;
  readonly pingTimeoutMs: number;
}

/**
 * Opens a connection; resolves once the server has accepted it. Fails with a GrpcError whose `mayHaveHappened` is
 * false.
 */
export type Connect = (options: ConnectOptions) => Promise<Connection>;

/** The gRPC framing of one message: flag, length, bytes. */
export function frameMessage(message: Uint8Array): Buffer {
  const frame = Buffer.allocUnsafe(5 + message.length);
  frame[0] = 0;
  frame.writeUInt32BE(message.length, 1);
  frame.set(message, 5);
  return frame;
}

const HEAD_BYTES = 5;

/** Splits a stream of bytes into gRPC messages. Every byte is copied once, into its message. */
export class MessageSplitter {
  readonly #head = Buffer.alloc(HEAD_BYTES);
  #headLength = 0;
  /** The message that is being received. */
  #message: Buffer | undefined;
  #messageLength = 0;
  #complete: Buffer[] = [];
  #error: GrpcError | undefined;

  /** Adds received bytes. */
  push(chunk: Buffer): void {
    for (let at = 0; at < chunk.length && this.#error === undefined; ) {
      at += this.#message === undefined ? this.#takeHead(chunk, at) : this.#takeBody(this.#message, chunk, at);
    }
  }

  /** The next complete message, or undefined. Throws GrpcError for a compressed message. */
  next(): Uint8Array | undefined {
    const message = this.#complete.shift();
    if (message === undefined && this.#error !== undefined) throw this.#error;
    return message;
  }

  #takeHead(chunk: Buffer, at: number): number {
    const taken = chunk.copy(this.#head, this.#headLength, at);
    this.#headLength += taken;
    if (this.#headLength < HEAD_BYTES) return taken;
    this.#headLength = 0;
    if (this.#head.readUInt8(0) !== 0) this.#error = new GrpcError(grpcStatus.internal, "compressed message");
    else this.#begin(this.#head.readUInt32BE(1));
    return taken;
  }

  #begin(length: number): void {
    this.#messageLength = 0;
    this.#message = Buffer.allocUnsafe(length);
    if (length === 0) this.#end(this.#message);
  }

  #takeBody(message: Buffer, chunk: Buffer, at: number): number {
    const taken = chunk.copy(message, this.#messageLength, at);
    this.#messageLength += taken;
    if (this.#messageLength === message.length) this.#end(message);
    return taken;
  }

  #end(message: Buffer): void {
    this.#message = undefined;
    this.#complete.push(message);
  }
}

/** The error for a call's final status; undefined for OK. `message` is percent-encoded as on the wire. */
export function statusError(status: string | undefined, message: string | undefined): GrpcError | undefined {
  if (status === "0") return undefined;
  if (status === undefined) return new GrpcError(grpcStatus.internal, "the server sent no status");
  return new GrpcError(Number(status), decodeGrpcMessage(message ?? ""));
}

/** Decodes a percent-encoded status message; malformed escapes are kept. */
export function decodeGrpcMessage(message: string): string {
  if (!message.includes("%")) return message;
  const bytes: Buffer[] = [];
  for (const part of message.split(/(%[0-9A-Fa-f]{2})/)) {
    const isEscape = /^%[0-9A-Fa-f]{2}$/.test(part);
    bytes.push(isEscape ? Buffer.from([Number.parseInt(part.slice(1), 16)]) : Buffer.from(part));
  }
  return Buffer.concat(bytes).toString("utf8");
}
