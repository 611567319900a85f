import { Duplex } from "node:stream";
import type { SpdyHeaders } from "./header-blocks.ts";

/** What a stream asks of its connection. */
export interface StreamOwner {
  /** Resolves by `done` when there is room for more. */
  sendData(stream: number, data: Buffer, done: (error?: Error | null) => void): void;
  sendFin(stream: number, done: (error?: Error | null) => void): void;
  sendReset(stream: number): void;
  /** There is room for what comes next. */
  wantsData(stream: number): void;
  /** Nothing more comes or goes. */
  isOver(stream: number): void;
}

const BUFFER_BYTES = 16 * 1024;

/** One stream of a SPDY connection. Each side ends for itself. */
export class SpdyStream extends Duplex {
  readonly id: number;
  readonly headers: SpdyHeaders;
  readonly #owner: StreamOwner;
  #isReset = false;

  constructor(id: number, headers: SpdyHeaders, owner: StreamOwner) {
    super({ highWaterMark: BUFFER_BYTES, allowHalfOpen: true, emitClose: true });
    this.id = id;
    this.headers = headers;
    this.#owner = owner;
    // Whoever reads or writes hears of it; nobody else has to.
    this.on("error", () => {});
  }

  /** Data has come. False: there is no room for more. */
  receive(data: Buffer): boolean {
    return this.destroyed || this.push(data);
  }

  receiveFin(): void {
    if (!this.destroyed) this.push(null);
  }

  receiveReset(): void {
    this.#isReset = true;
    this.destroy(new Error("the stream was reset"));
  }

  override _read(): void {
    this.#owner.wantsData(this.id);
  }

  override _write(chunk: Buffer, _encoding: BufferEncoding, done: (error?: Error | null) => void): void {
    this.#owner.sendData(this.id, chunk, done);
  }

  override _final(done: (error?: Error | null) => void): void {
    this.#owner.sendFin(this.id, done);
  }

  override _destroy(error: Error | null, done: (error?: Error | null) => void): void {
    if (!this.#isReset && !(this.readableEnded && this.writableFinished)) this.#owner.sendReset(this.id);
    this.#owner.isOver(this.id);
    done(error);
  }
}
