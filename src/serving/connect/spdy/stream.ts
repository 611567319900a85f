import { Duplex } from "node:stream";
import type { SpdyHeaders } from "./header-blocks.ts";

/** What a stream requires of its connection. */
export interface StreamOwner {
  /** Calls `done` when more data may be sent. */
  sendData(stream: number, data: Buffer, done: (error?: Error | null) => void): void;
  sendFin(stream: number, done: (error?: Error | null) => void): void;
  sendReset(stream: number): void;
  /** The stream can accept more data. */
  wantsData(stream: number): void;
  /** The stream has ended in both directions. */
  isOver(stream: number): void;
}

const BUFFER_BYTES = 16 * 1024;

/** A stream of a SPDY connection. Its two directions end independently. */
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
    // Readers and writers receive the error; other listeners are not needed.
    this.on("error", () => {});
  }

  /** Adds received data. Returns false if the buffer is full. */
  receive(data: Buffer): boolean {
    return this.destroyed || this.push(data);
  }

  receiveFin(): void {
    if (!this.destroyed) this.push(null);
  }

  receiveReset(): void {
    this.#isReset = true;
    this.destroy(new Error("stream reset by the peer"));
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
