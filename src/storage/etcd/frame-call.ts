import { GrpcError, grpcStatus, MessageSplitter, type MessageStream, statusError } from "./transport.ts";

/** Bytes that a server may send on one stream before they are acknowledged. */
export const STREAM_WINDOW_BYTES: number = 4 * 1024 * 1024;

/** The connection, as seen by a call. */
export interface CallOwner {
  /** Lets the server send more bytes on the stream. */
  credit(call: FrameCall, bytes: number): void;
  /** Queues bytes of the request. */
  send(call: FrameCall, bytes: Buffer): void;
  /** See `Connection.check`. */
  check(): void;
  /** Cancels the call at the server. */
  abandon(call: FrameCall): void;
}

/** One call on a connection, with its unsent data and the response so far. */
export abstract class FrameCall {
  readonly path: string;
  /** The call fails if it is still open at this time. */
  readonly deadlineMs: number;
  /** 0 until the call has been started. */
  streamId = 0;
  /** Bytes that the server accepts now. */
  sendWindow = 0;
  unsent: Buffer[] = [];
  /** True if the last element of `unsent` ends the request. */
  readonly endsWithRequest: boolean;
  protected readonly owner: CallOwner;
  protected readonly splitter: MessageSplitter = new MessageSplitter();
  #uncredited = 0;
  #httpStatus = "";
  #status: string | undefined;
  #message: string | undefined;

  constructor(owner: CallOwner, path: string, options: { deadlineMs: number; endsWithRequest: boolean }) {
    this.owner = owner;
    this.path = path;
    this.deadlineMs = options.deadlineMs;
    this.endsWithRequest = options.endsWithRequest;
  }

  /** Handles a header block, the first or the trailers. */
  headers(fields: ReadonlyMap<string, string>): void {
    this.#httpStatus = fields.get(":status") ?? this.#httpStatus;
    this.#status = fields.get("grpc-status") ?? this.#status;
    this.#message = fields.get("grpc-message") ?? this.#message;
  }

  /** Handles received bytes of the body. */
  data(payload: Buffer): void {
    this.splitter.push(payload);
    this.#uncredited += payload.length;
  }

  /** The error of the final status; undefined for success. */
  finalError(): GrpcError | undefined {
    if (this.#status === undefined && this.#httpStatus !== "200") {
      return new GrpcError(grpcStatus.unavailable, `HTTP status ${this.#httpStatus || "missing"}`);
    }
    return statusError(this.#status, this.#message);
  }

  /** Ends the call on our side; success if `error` is undefined. Called once. */
  abstract settle(error: GrpcError | undefined): void;

  protected creditReceived(): void {
    if (this.#uncredited < STREAM_WINDOW_BYTES / 4) return;
    this.owner.credit(this, this.#uncredited);
    this.#uncredited = 0;
  }
}

/** One request, one response. */
export class UnaryFrameCall extends FrameCall {
  readonly #resolve: (message: Uint8Array) => void;
  readonly #reject: (error: unknown) => void;

  constructor(
    owner: CallOwner,
    path: string,
    options: { deadlineMs: number; resolve: (message: Uint8Array) => void; reject: (error: unknown) => void },
  ) {
    super(owner, path, { deadlineMs: options.deadlineMs, endsWithRequest: true });
    this.#resolve = options.resolve;
    this.#reject = options.reject;
  }

  override data(payload: Buffer): void {
    super.data(payload);
    this.creditReceived();
  }

  override settle(error: GrpcError | undefined): void {
    try {
      if (error !== undefined) throw error;
      const message = this.splitter.next();
      if (message === undefined) throw new GrpcError(grpcStatus.internal, "the server sent no message");
      this.#resolve(message);
    } catch (problem) {
      this.#reject(problem);
    }
  }
}

/** A call with many messages. If its reader pauses, the server stops once the window is used up. */
export class StreamFrameCall extends FrameCall implements MessageStream {
  readonly messages: AsyncIterable<Uint8Array>;
  readonly #received: Uint8Array[] = [];
  #wake: (() => void) | undefined;
  #end: { readonly error: GrpcError | undefined } | undefined;

  constructor(owner: CallOwner, path: string) {
    super(owner, path, { deadlineMs: Number.POSITIVE_INFINITY, endsWithRequest: false });
    this.messages = this.#receive();
  }

  write(message: Uint8Array): void {
    if (this.#end !== undefined) return;
    const head = Buffer.alloc(5);
    head.writeUInt32BE(message.length, 1);
    this.owner.send(this, Buffer.concat([head, message]));
  }

  check(): void {
    this.owner.check();
  }

  cancel(): void {
    if (this.#end !== undefined) return;
    this.#end = { error: undefined };
    this.owner.abandon(this);
    this.#wake?.();
  }

  override data(payload: Buffer): void {
    super.data(payload);
    for (let message = this.splitter.next(); message !== undefined; message = this.splitter.next()) {
      this.#received.push(message);
    }
    // Part of a message larger than the window must be credited, or the server could not send the rest.
    if (this.#received.length === 0) this.creditReceived();
    this.#wake?.();
  }

  override settle(error: GrpcError | undefined): void {
    this.#end ??= { error };
    this.#wake?.();
  }

  async *#receive(): AsyncGenerator<Uint8Array> {
    try {
      for (;;) {
        const message = this.#received.shift();
        if (message !== undefined) {
          if (this.#received.length === 0) this.creditReceived();
          yield message;
        } else if (this.#end !== undefined) {
          if (this.#end.error !== undefined) throw this.#end.error;
          return;
        } else {
          await new Promise<void>((resolve) => {
            this.#wake = resolve;
          });
          this.#wake = undefined;
        }
      }
    } finally {
      this.cancel();
    }
  }
}
