import type net from "node:net";
import { type CallOwner, type FrameCall, STREAM_WINDOW_BYTES, StreamFrameCall, UnaryFrameCall } from "./frame-call.ts";
import {
  type Frame,
  type FrameReader,
  FrameWriter,
  frameFlag,
  frameType,
  http2Code,
  PREFACE,
  setting,
  unpad,
} from "./frames.ts";
import { encodeHeaders, HeaderDecoder } from "./hpack.ts";
import { KeepAlive } from "./keep-alive.ts";
import { type Connection, type ConnectOptions, GrpcError, grpcStatus, type MessageStream } from "./transport.ts";

const DEFAULT_WINDOW_BYTES = 65_535;
const CONNECTION_WINDOW_BYTES = 1 << 30;
const LAST_STREAM_ID = 0x7fffffff - 2;
const DEADLINE_TICK_MS = 50;

/** A connection that implements just enough HTTP/2 for gRPC calls to a trusted server. */
export class FrameConnection implements Connection, CallOwner {
  readonly #socket: net.Socket;
  readonly #writer: FrameWriter;
  readonly #reader: FrameReader;
  readonly #base: readonly (readonly [string, string])[];
  readonly #requestHeaders = new Map<string, Buffer>();
  readonly #decoder = new HeaderDecoder();
  readonly #calls = new Map<number, FrameCall>();
  /** Calls that wait because the server's limit of concurrent streams is reached. */
  readonly #waiting: FrameCall[] = [];
  /** Calls whose request waits for the server's flow-control window. */
  readonly #blocked = new Set<FrameCall>();
  readonly #keepAlive: KeepAlive;
  readonly #onSettings: () => void;
  #deadlineTimer: NodeJS.Timeout | undefined;
  #nextId = 1;
  #sendWindow = DEFAULT_WINDOW_BYTES;
  #received = 0;
  #peerWindow = DEFAULT_WINDOW_BYTES;
  #peerFrameBytes = 16_384;
  #peerStreams = Number.POSITIVE_INFINITY;
  #openBlock: { readonly streamId: number; readonly flags: number; readonly parts: Buffer[] } | undefined;
  #isLost = false;

  constructor(socket: net.Socket, reader: FrameReader, options: ConnectOptions, onSettings: () => void) {
    this.#socket = socket;
    this.#reader = reader;
    this.#writer = new FrameWriter(socket);
    this.#onSettings = onSettings;
    this.#base = [
      [":method", "POST"],
      [":scheme", options.url.protocol.slice(0, -1)],
      [":authority", options.url.host],
      ["content-type", "application/grpc"],
      ["te", "trailers"],
    ];
    this.#keepAlive = new KeepAlive({
      intervalMs: options.pingIntervalMs,
      timeoutMs: options.pingTimeoutMs,
      ping: () => this.#writer.frame(frameType.ping, 0, 0, Buffer.alloc(8)),
      lost: () => socket.destroy(),
    });
    socket.on("error", () => undefined);
    socket.on("close", () => this.#closed());
    this.#writer.bytes(PREFACE);
    this.#writer.settings([
      [setting.headerTableSize, 0],
      [setting.enablePush, 0],
      [setting.initialWindowSize, STREAM_WINDOW_BYTES],
    ]);
    this.#writer.number(frameType.windowUpdate, 0, CONNECTION_WINDOW_BYTES);
    this.#writer.flush();
  }

  get isLost(): boolean {
    return this.#isLost;
  }

  get isClosed(): boolean {
    return this.#socket.destroyed;
  }

  unary(path: string, request: Uint8Array, timeoutMs: number): Promise<Uint8Array> {
    return new Promise((resolve, reject) => {
      const call = new UnaryFrameCall(this, path, { deadlineMs: Date.now() + timeoutMs, resolve, reject });
      this.#deadlineTimer ??= setTimeout(() => this.#expire(), DEADLINE_TICK_MS);
      if (this.#canSendAtOnce(request.length + 5)) {
        if (this.#start(call)) this.#sendWhole(call, request);
        return;
      }
      const head = Buffer.alloc(5);
      head.writeUInt32BE(request.length, 1);
      call.unsent = [head, Buffer.from(request.buffer, request.byteOffset, request.byteLength)];
      this.#open(call);
    });
  }

  stream(path: string): MessageStream {
    const call = new StreamFrameCall(this, path);
    this.#open(call);
    return call;
  }

  credit(call: FrameCall, bytes: number): void {
    if (this.#calls.has(call.streamId)) this.#writer.number(frameType.windowUpdate, call.streamId, bytes);
  }

  send(call: FrameCall, bytes: Buffer): void {
    call.unsent.push(bytes);
    if (call.streamId !== 0) this.#pump(call);
  }

  abandon(call: FrameCall): void {
    const position = this.#waiting.indexOf(call);
    if (position !== -1) this.#waiting.splice(position, 1);
    if (!this.#calls.has(call.streamId)) return;
    this.#writer.number(frameType.resetStream, call.streamId, http2Code.cancel);
    this.#forget(call);
  }

  check(): void {
    if (!this.#socket.destroyed) this.#keepAlive.check();
  }

  drain(): void {
    this.#isLost = true;
    this.#closeIfIdle();
  }

  destroy(): void {
    this.#isLost = true;
    this.#socket.destroy();
  }

  #canSendAtOnce(bytes: number): boolean {
    const room = Math.min(this.#peerFrameBytes, this.#peerWindow, this.#sendWindow);
    return bytes <= room && this.#calls.size < this.#peerStreams && this.#blocked.size === 0;
  }

  #sendWhole(call: FrameCall, request: Uint8Array): void {
    this.#sendWindow -= request.length + 5;
    this.#writer.request(call.streamId, this.#headersFor(call), request);
  }

  #open(call: FrameCall): void {
    if (!this.#isLost && this.#calls.size >= this.#peerStreams) {
      this.#waiting.push(call);
      return;
    }
    if (!this.#start(call)) return;
    this.#writer.frame(frameType.headers, frameFlag.endHeaders, call.streamId, this.#headersFor(call));
    this.#pump(call);
  }

  #start(call: FrameCall): boolean {
    if (this.#isLost) {
      call.settle(new GrpcError(grpcStatus.unavailable, "connection lost", { mayHaveHappened: false }));
      return false;
    }
    call.streamId = this.#nextId;
    call.sendWindow = this.#peerWindow;
    this.#nextId += 2;
    this.#calls.set(call.streamId, call);
    // Stream ids are never reused: later calls need another connection.
    if (this.#nextId > LAST_STREAM_ID) this.#isLost = true;
    return true;
  }

  #headersFor(call: FrameCall): Buffer {
    let block = this.#requestHeaders.get(call.path);
    if (block === undefined) {
      const leader = call.endsWithRequest ? [] : [["hasleader", "true"] as const];
      block = encodeHeaders([...this.#base, [":path", call.path] as const, ...leader].sort(pseudoFirst));
      this.#requestHeaders.set(call.path, block);
    }
    return block;
  }

  /** Sends as much of a request as the windows allow. */
  #pump(call: FrameCall): void {
    for (let next = call.unsent[0]; next !== undefined; next = call.unsent[0]) {
      const room = Math.min(this.#peerFrameBytes, call.sendWindow, this.#sendWindow);
      if (room <= 0) {
        this.#blocked.add(call);
        return;
      }
      const piece = next.subarray(0, room);
      if (piece.length === next.length) call.unsent.shift();
      else call.unsent[0] = next.subarray(piece.length);
      call.sendWindow -= piece.length;
      this.#sendWindow -= piece.length;
      const isLast = call.endsWithRequest && call.unsent.length === 0;
      this.#writer.frame(frameType.data, isLast ? frameFlag.endStream : 0, call.streamId, piece);
    }
    this.#blocked.delete(call);
  }

  /** Handles bytes that were read into `room` of the reader. */
  receive(count: number): void {
    try {
      this.#reader.take(count, (frame) => this.#handle(frame));
    } catch (error) {
      this.#socket.destroy(error instanceof Error ? error : undefined);
    }
  }

  #handle(frame: Frame): void {
    const { type } = frame;
    if (type === frameType.data) this.#handleData(frame);
    else if (type === frameType.headers || type === frameType.continuation) this.#handleHeaders(frame);
    else if (type === frameType.windowUpdate) this.#handleWindowUpdate(frame);
    else if (type === frameType.settings) this.#handleSettings(frame);
    else if (type === frameType.ping) this.#handlePing(frame);
    else if (type === frameType.resetStream) this.#handleReset(frame);
    else if (type === frameType.goAway) this.#handleGoAway(frame);
    else if (type === frameType.pushPromise) throw new Error("the server sent PUSH_PROMISE although push is disabled");
  }

  #handleData(frame: Frame): void {
    // The connection window is always replenished, so that a paused stream does not block others.
    this.#received += frame.payload.length;
    if (this.#received >= CONNECTION_WINDOW_BYTES / 2) {
      this.#writer.number(frameType.windowUpdate, 0, this.#received);
      this.#received = 0;
    }
    const call = this.#calls.get(frame.streamId);
    if (call === undefined) return;
    call.data(unpad(frame));
    if (frame.flags & frameFlag.endStream) this.#finish(call, call.finalError());
  }

  #handleHeaders(frame: Frame): void {
    const { streamId, flags } = frame;
    if (frame.type === frameType.headers) this.#openBlock = { streamId, flags, parts: [] };
    const block = this.#openBlock;
    if (block === undefined || block.streamId !== streamId) throw new Error("header block out of place");
    const part = frame.type === frameType.headers ? unpad(frame) : frame.payload;
    const isWhole = (flags & frameFlag.endHeaders) !== 0;
    block.parts.push(isWhole ? part : Buffer.from(part));
    if (!isWhole) return;
    this.#openBlock = undefined;
    const call = this.#calls.get(frame.streamId);
    if (call === undefined) return;
    call.headers(this.#decoder.decode(block.parts.length === 1 ? part : Buffer.concat(block.parts)));
    if (block.flags & frameFlag.endStream) this.#finish(call, call.finalError());
  }

  #handleReset(frame: Frame): void {
    const call = this.#calls.get(frame.streamId);
    if (call === undefined) return;
    const code = frame.payload.readUInt32BE(0);
    const mayHaveHappened = code !== http2Code.refusedStream;
    this.#finish(call, new GrpcError(grpcStatus.unavailable, `stream reset with code ${code}`, { mayHaveHappened }));
  }

  #handleSettings(frame: Frame): void {
    if (frame.flags & frameFlag.ack) return;
    for (let at = 0; at + 6 <= frame.payload.length; at += 6) {
      const value = frame.payload.readUInt32BE(at + 2);
      const id = frame.payload.readUInt16BE(at);
      if (id === setting.maxConcurrentStreams) this.#peerStreams = value;
      else if (id === setting.maxFrameSize) this.#peerFrameBytes = value;
      else if (id === setting.initialWindowSize) {
        for (const call of this.#calls.values()) call.sendWindow += value - this.#peerWindow;
        this.#peerWindow = value;
      }
    }
    this.#writer.frame(frameType.settings, frameFlag.ack, 0, Buffer.alloc(0));
    for (const call of [...this.#blocked]) this.#pump(call);
    this.#startWaiting();
    this.#onSettings();
  }

  #handlePing(frame: Frame): void {
    if (frame.flags & frameFlag.ack) this.#keepAlive.answered();
    else this.#writer.frame(frameType.ping, frameFlag.ack, 0, frame.payload);
  }

  #handleGoAway(frame: Frame): void {
    this.#isLost = true;
    const lastAccepted = frame.payload.readUInt32BE(0) & 0x7fffffff;
    const error = new GrpcError(grpcStatus.unavailable, "the server closes the connection", { mayHaveHappened: false });
    for (const call of [...this.#calls.values()]) if (call.streamId > lastAccepted) this.#finish(call, error);
    for (const call of this.#waiting.splice(0)) call.settle(error);
    this.#closeIfIdle();
  }

  #handleWindowUpdate(frame: Frame): void {
    const bytes = frame.payload.readUInt32BE(0) & 0x7fffffff;
    if (frame.streamId === 0) {
      this.#sendWindow += bytes;
      for (const call of [...this.#blocked]) this.#pump(call);
      return;
    }
    const call = this.#calls.get(frame.streamId);
    if (call === undefined) return;
    call.sendWindow += bytes;
    if (this.#blocked.has(call)) this.#pump(call);
  }

  #finish(call: FrameCall, error: GrpcError | undefined): void {
    // The response came before the request was complete: the server need not wait for the rest.
    if (call.unsent.length > 0) this.#writer.number(frameType.resetStream, call.streamId, http2Code.cancel);
    this.#forget(call);
    call.settle(error);
  }

  #forget(call: FrameCall): void {
    this.#calls.delete(call.streamId);
    this.#blocked.delete(call);
    this.#startWaiting();
    if (this.#isLost) this.#closeIfIdle();
  }

  #startWaiting(): void {
    while (this.#waiting.length > 0 && (this.#isLost || this.#calls.size < this.#peerStreams)) {
      const call = this.#waiting.shift();
      if (call !== undefined) this.#open(call);
    }
  }

  #closeIfIdle(): void {
    if (this.#calls.size > 0 || this.#waiting.length > 0) return;
    this.#writer.flush();
    this.#socket.destroySoon();
  }

  #expire(): void {
    this.#deadlineTimer = undefined;
    const nowMs = Date.now();
    let isAnyLeft = false;
    for (const call of [...this.#calls.values(), ...this.#waiting]) {
      if (call.deadlineMs > nowMs) isAnyLeft ||= call.deadlineMs !== Number.POSITIVE_INFINITY;
      else {
        const mayHaveHappened = call.streamId !== 0;
        this.abandon(call);
        call.settle(
          new GrpcError(grpcStatus.deadlineExceeded, `no answer to ${call.path} in time`, { mayHaveHappened }),
        );
      }
    }
    if (isAnyLeft) this.#deadlineTimer ??= setTimeout(() => this.#expire(), DEADLINE_TICK_MS);
  }

  #closed(): void {
    this.#isLost = true;
    this.#keepAlive.close();
    clearTimeout(this.#deadlineTimer);
    const calls = [...this.#calls.values()];
    this.#calls.clear();
    this.#blocked.clear();
    for (const call of calls) call.settle(new GrpcError(grpcStatus.unavailable, "connection lost"));
    const unsent = new GrpcError(grpcStatus.unavailable, "connection lost", { mayHaveHappened: false });
    for (const call of this.#waiting.splice(0)) call.settle(unsent);
  }
}

function pseudoFirst(a: readonly [string, string], b: readonly [string, string]): number {
  return Number(b[0].startsWith(":")) - Number(a[0].startsWith(":"));
}
