/** The gRPC status codes that decide anything here. */
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
  /** False: the server surely did not act on the request, so that even a write may be sent again. */
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
  /** As of the connection. */
  check(): void;
  /** Abandons the call; `messages` then ends quietly. */
  cancel(): void;
}

/** How long a call may take and whether it may be sent twice. */
export interface CallOptions {
  /** Time for everything, repetitions included. */
  readonly timeoutMs: number;
  /** "read": repeated when a server was not available. "write": repeated only when it surely did not happen. */
  readonly kind: "read" | "write";
}

/** gRPC calls to whichever server is reachable. */
export interface Transport {
  unary(path: string, request: Uint8Array, options: CallOptions): Promise<Uint8Array>;
  /** Opens a call on a server that has a leader. It is not repeated when the connection breaks. */
  stream(path: string): Promise<MessageStream>;
  /** Makes following calls prefer another server than the one used now. */
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
  /** True once nothing is left of it. */
  readonly isClosed: boolean;
  /** Asks the server for a sign of life, unless that was done just before, and gives the connection up when none comes. */
  check(): void;
  /** Lets running calls finish and then closes. */
  drain(): void;
  /** Ends everything now; running calls fail as unavailable. */
  destroy(): void;
}

/** Files' contents, PEM, for connections to `https` endpoints. */
export interface TlsMaterial {
  readonly ca?: string | Buffer;
  readonly certificate?: string | Buffer;
  readonly key?: string | Buffer;
}

/** Where to connect to and how. */
export interface ConnectOptions {
  readonly url: URL;
  readonly tls?: TlsMaterial;
  readonly timeoutMs: number;
  /** Gives up connecting. */
  readonly signal: AbortSignal;
  /** A PING is sent this often; a connection that does not answer in `pingTimeoutMs` is given up. */
  readonly pingIntervalMs: number;
  readonly pingTimeoutMs: number;
}

/** Opens a connection; resolves once the server has accepted it. Fails with a GrpcError that did not happen. */
export type Connect = (options: ConnectOptions) => Promise<Connection>;

/** The gRPC framing of one message: a flag, a length, the bytes. */
export function frameMessage(message: Uint8Array): Buffer {
  const frame = Buffer.allocUnsafe(5 + message.length);
  frame[0] = 0;
  frame.writeUInt32BE(message.length, 1);
  frame.set(message, 5);
  return frame;
}

const HEAD_BYTES = 5;

/** Cuts a stream of bytes, arriving in any pieces, into gRPC messages. Every byte is copied once, to its message. */
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

/** The error for a call's final status, or undefined for OK. `message` is percent-encoded as on the wire. */
export function statusError(status: string | undefined, message: string | undefined): GrpcError | undefined {
  if (status === "0") return undefined;
  if (status === undefined) return new GrpcError(grpcStatus.internal, "the server sent no status");
  return new GrpcError(Number(status), decodeGrpcMessage(message ?? ""));
}

/** Undoes the percent-encoding of a status message; broken escapes stay as they are. */
export function decodeGrpcMessage(message: string): string {
  if (!message.includes("%")) return message;
  const bytes: Buffer[] = [];
  for (const part of message.split(/(%[0-9A-Fa-f]{2})/)) {
    const isEscape = /^%[0-9A-Fa-f]{2}$/.test(part);
    bytes.push(isEscape ? Buffer.from([Number.parseInt(part.slice(1), 16)]) : Buffer.from(part));
  }
  return Buffer.concat(bytes).toString("utf8");
}
