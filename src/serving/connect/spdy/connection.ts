import type { Duplex } from "node:stream";
import {
  controlFrame,
  dataHead,
  FLAG_FIN,
  FRAME_HEAD_BYTES,
  type FrameHead,
  FrameType,
  readFrameHead,
  words,
} from "./frames.ts";
import { HeaderPrinter, HeaderReader, type SpdyHeaders } from "./header-blocks.ts";
import { SpdyStream, type StreamOwner } from "./stream.ts";

/** Options of a SPDY connection. */
export interface SpdyOptions {
  /** Clients open streams. */
  readonly role: "client" | "server";
  /** Handles a stream that the peer opens. Throw to reject it. Optional. If omitted, all are rejected. */
  readonly onStream?: (stream: SpdyStream) => void;
  readonly maxStreams?: number;
}

/** Limit for control frames. Data frames are passed on as they arrive. */
const MAX_CONTROL_BYTES = 64 * 1024;
const MAX_STREAMS = 1000;
const CANCEL = 5;
const REFUSED_STREAM = 3;
const PROTOCOL_ERROR = 1;

/**
 * SPDY/3.1 as Kubernetes uses it over an upgraded connection: streams without individual flow control. Unread data of
 * one stream blocks the whole connection, which limits memory use.
 */
export class SpdyConnection implements StreamOwner {
  readonly #socket: Duplex;
  readonly #options: SpdyOptions;
  readonly #streams = new Map<number, SpdyStream>();
  readonly #replies = new Map<number, { resolve(): void; reject(error: Error): void }>();
  readonly #printer = new HeaderPrinter();
  readonly #reader = new HeaderReader();
  readonly #full = new Set<number>();
  readonly #closed = Promise.withResolvers<void>();
  /** Writers waiting for the socket to drain. */
  readonly #waiting: (() => void)[] = [];
  #wake: (() => void) | undefined;
  #nextId: number;
  #nextPing: number;
  #isClosed = false;

  constructor(socket: Duplex, options: SpdyOptions) {
    this.#socket = socket;
    this.#options = options;
    this.#nextId = options.role === "client" ? 1 : 2;
    this.#nextPing = this.#nextId;
    socket.on("error", () => socket.destroy());
    socket.on("drain", () => this.#writable());
    socket.once("close", () => this.close());
    void this.#serve();
  }

  /** Resolves when the connection has ended for any reason. */
  get closed(): Promise<void> {
    return this.#closed.promise;
  }

  /** Opens a stream. Resolves when the peer has accepted it. */
  async open(headers: Readonly<Record<string, string>>): Promise<SpdyStream> {
    if (this.#isClosed) throw new Error("connection is closed");
    const id = this.#nextId;
    this.#nextId += 2;
    const pairs = Object.entries(headers);
    const stream = new SpdyStream(id, new Map(pairs), this);
    this.#streams.set(id, stream);
    const replied = new Promise<void>((resolve, reject) => this.#replies.set(id, { resolve, reject }));
    const numbers = words(id, 0);
    this.#write(controlFrame(FrameType.synStream, 0, numbers, Buffer.alloc(2), this.#printer.print(pairs)));
    await replied;
    return stream;
  }

  /** Sends a ping. */
  ping(): void {
    this.#write(controlFrame(FrameType.ping, 0, words(this.#nextPing)));
    this.#nextPing = (this.#nextPing + 2) % 0x7f_ff_ff_ff;
  }

  /** Closes the connection and all streams immediately. */
  close(): void {
    if (this.#isClosed) return;
    this.#isClosed = true;
    const error = new Error("connection is closed");
    for (const { reject } of this.#replies.values()) reject(error);
    this.#replies.clear();
    for (const stream of this.#streams.values()) stream.destroy(error);
    this.#streams.clear();
    this.#wake?.();
    this.#writable();
    this.#reader.close();
    this.#socket.destroy();
    this.#closed.resolve();
  }

  sendData(id: number, data: Buffer, done: (error?: Error | null) => void): void {
    if (this.#isClosed) {
      done(new Error("connection is closed"));
      return;
    }
    this.#socket.cork();
    this.#socket.write(dataHead(id, data.length));
    const hasRoom = this.#socket.write(data);
    this.#socket.uncork();
    if (hasRoom) done();
    else this.#onceWritable(done);
  }

  sendFin(id: number, done: (error?: Error | null) => void): void {
    this.#write(dataHead(id, 0, FLAG_FIN));
    done();
  }

  sendReset(id: number): void {
    this.#write(controlFrame(FrameType.rstStream, 0, words(id, CANCEL)));
  }

  wantsData(id: number): void {
    if (this.#full.delete(id) && this.#full.size === 0) this.#wake?.();
  }

  isOver(id: number): void {
    this.#streams.delete(id);
    this.wantsData(id);
  }

  #onceWritable(done: () => void): void {
    this.#waiting.push(done);
  }

  #writable(): void {
    const { length } = this.#waiting;
    for (const done of this.#waiting.splice(0, length)) done();
  }

  #write(frame: Buffer): void {
    if (!this.#isClosed && this.#socket.writable) this.#socket.write(frame);
  }

  async #serve(): Promise<void> {
    try {
      const frames = new FrameReader(this.#socket);
      for (;;) {
        const head = await frames.head();
        if (head === undefined) break;
        if (head.type === "data") await this.#takeData(frames, head.stream, head);
        else await this.#takeControl(head, await frames.bytes(head.length, MAX_CONTROL_BYTES));
        if (this.#isClosed) break;
      }
    } catch {
      // Invalid input ends the connection.
    }
    this.close();
  }

  async #takeData(frames: FrameReader, id: number, { flags, length }: FrameHead): Promise<void> {
    const stream = this.#streams.get(id);
    for (let left = length; left > 0; ) {
      const piece = await frames.some(left);
      left -= piece.length;
      if (stream && !stream.receive(piece)) {
        this.#full.add(id);
        await new Promise<void>((resolve) => {
          this.#wake = resolve;
        });
        this.#wake = undefined;
        if (this.#isClosed) return;
      }
    }
    if (flags & FLAG_FIN) stream?.receiveFin();
  }

  async #takeControl({ flags, ...head }: FrameHead, body: Buffer): Promise<void> {
    const kind = head.type === "control" ? head.kind : 0;
    switch (kind) {
      case FrameType.synStream: {
        const headers = await this.#reader.read(body.subarray(10));
        this.#opened(body.readUInt32BE(0), headers, flags);
        return;
      }
      case FrameType.synReply: {
        const id = body.readUInt32BE(0);
        this.#replies.get(id)?.resolve();
        this.#replies.delete(id);
        if (flags & FLAG_FIN) this.#streams.get(id)?.receiveFin();
        return;
      }
      case FrameType.rstStream: {
        const id = body.readUInt32BE(0);
        this.#replies.get(id)?.reject(new Error("stream rejected by the peer"));
        this.#replies.delete(id);
        this.#streams.get(id)?.receiveReset();
        return;
      }
      case FrameType.ping: {
        const id = body.readUInt32BE(0);
        const isOurs = id % 2 === this.#nextPing % 2;
        if (!isOurs) this.#write(controlFrame(FrameType.ping, 0, body.subarray(0, 4)));
        // Without this, replies to pings would pile up if the peer does not read.
        if (!isOurs && this.#socket.writableNeedDrain) await new Promise<void>((done) => this.#onceWritable(done));
        return;
      }
      case FrameType.headers:
        if (this.#options.role === "server") await this.#reader.read(body.subarray(4));
        return;
      default:
    }
  }

  #opened(id: number, headers: SpdyHeaders, flags: number): void {
    const { onStream, role, maxStreams = MAX_STREAMS } = this.#options;
    const isTheirs = id % 2 === (role === "server" ? 1 : 0);
    const refuse = (why: number): void => this.#write(controlFrame(FrameType.rstStream, 0, words(id, why)));
    if (!isTheirs || this.#streams.has(id)) refuse(PROTOCOL_ERROR);
    else if (!onStream || this.#streams.size >= maxStreams) refuse(REFUSED_STREAM);
    else this.#accept(new SpdyStream(id, headers, this), onStream, flags);
  }

  #accept(stream: SpdyStream, onStream: (stream: SpdyStream) => void, flags: number): void {
    const { id } = stream;
    this.#streams.set(id, stream);
    try {
      onStream(stream);
    } catch {
      stream.destroy();
      return;
    }
    this.#write(controlFrame(FrameType.synReply, 0, words(id), this.#printer.print([])));
    if (flags & FLAG_FIN) stream.receiveFin();
  }
}

const NOTHING: Buffer = Buffer.alloc(0);

/** Reads frames from a connection on demand. */
class FrameReader {
  readonly #chunks: AsyncIterator<Buffer>;
  #rest: Buffer = NOTHING;

  constructor(socket: Duplex) {
    this.#chunks = socket[Symbol.asyncIterator]() as AsyncIterator<Buffer>;
  }

  /** Undefined at the end of the connection. */
  async head(): Promise<FrameHead | undefined> {
    const bytes = await this.#exactly(FRAME_HEAD_BYTES);
    return bytes && readFrameHead(bytes);
  }

  async bytes(length: number, limit: number): Promise<Buffer> {
    if (length > limit) throw new Error("control frame exceeds the size limit");
    const bytes = await this.#exactly(length);
    if (bytes === undefined) throw new Error("truncated frame");
    return bytes;
  }

  /** Returns the available bytes, at most `limit`. */
  async some(limit: number): Promise<Buffer> {
    if (this.#rest.length === 0 && !(await this.#more())) throw new Error("truncated frame");
    return this.#cut(Math.min(limit, this.#rest.length));
  }

  async #exactly(length: number): Promise<Buffer | undefined> {
    while (this.#rest.length < length) if (!(await this.#more())) return undefined;
    return this.#cut(length);
  }

  #cut(length: number): Buffer {
    const piece = this.#rest.subarray(0, length);
    // An empty slice would keep the whole buffer alive.
    this.#rest = length === this.#rest.length ? NOTHING : this.#rest.subarray(length);
    return piece;
  }

  async #more(): Promise<boolean> {
    const next = await this.#chunks.next();
    if (next.done) return false;
    this.#rest = this.#rest.length === 0 ? next.value : Buffer.concat([this.#rest, next.value]);
    return true;
  }
}
