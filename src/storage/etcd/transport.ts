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

/** Cuts a stream of bytes, arriving in any pieces, into gRPC messages. */
export class MessageSplitter {
  #chunks: Buffer[] = [];
  #length = 0;

  /** Adds received bytes; they must not be changed afterwards. */
  push(chunk: Buffer): void {
    this.#chunks.push(chunk);
    this.#length += chunk.length;
  }

  /** The next complete message, or undefined. Throws GrpcError for a compressed message. */
  next(): Uint8Array | undefined {
    if (this.#length < 5) return undefined;
    const head = this.#front(5);
    if (head.readUInt8(0) !== 0) throw new GrpcError(grpcStatus.internal, "compressed message");
    const length = head.readUInt32BE(1);
    if (this.#length < 5 + length) return undefined;
    const whole = this.#front(5 + length);
    const message = whole.subarray(5, 5 + length);
    const rest = whole.subarray(5 + length);
    this.#chunks[0] = rest;
    if (rest.length === 0) this.#chunks.shift();
    this.#length -= 5 + length;
    return message;
  }

  /** Makes the first chunk at least `length` bytes long and returns it. */
  #front(length: number): Buffer {
    let first = this.#chunks[0];
    if (first === undefined || first.length < length) {
      first = Buffer.concat(this.#chunks);
      this.#chunks = [first];
    }
    return first;
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
