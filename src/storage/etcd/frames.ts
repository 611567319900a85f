import type { Socket } from "node:net";

/** Frame types of HTTP/2. */
export const frameType = {
  data: 0,
  headers: 1,
  resetStream: 3,
  settings: 4,
  pushPromise: 5,
  ping: 6,
  goAway: 7,
  windowUpdate: 8,
  continuation: 9,
} as const;

/** HTTP/2 frame flags; `ack` and `endStream` share a bit. */
export const frameFlag = { endStream: 1, ack: 1, endHeaders: 4, padded: 8, priority: 32 } as const;

/** HTTP/2 error codes that are sent or handled. */
export const http2Code = { noError: 0, protocolError: 1, refusedStream: 7, cancel: 8 } as const;

/** HTTP/2 settings identifiers. */
export const setting = {
  headerTableSize: 1,
  enablePush: 2,
  maxConcurrentStreams: 3,
  initialWindowSize: 4,
  maxFrameSize: 5,
} as const;

/** The HTTP/2 connection preface of a client. */
export const PREFACE: Buffer = Buffer.from("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n");

const HEADER_BYTES = 9;
const GRPC_PREFIX_BYTES = 5;
const LARGEST_FRAME_BYTES = 16_384;

/** One received frame; `payload` is a view that is valid until the handler returns. */
export interface Frame {
  readonly type: number;
  readonly flags: number;
  readonly streamId: number;
  readonly payload: Buffer;
}

const READ_BYTES = 64 * 1024;

/** Splits received bytes into frames. Bytes are received into one buffer, which is reused. */
export class FrameReader {
  readonly #buffer = Buffer.allocUnsafeSlow(READ_BYTES);
  /** Bytes at the front of the buffer that belong to an incomplete frame. */
  #held = 0;

  /** The part of the buffer to receive the next bytes into. */
  get room(): Buffer {
    return this.#buffer.subarray(this.#held);
  }

  /**
   * Processes `count` bytes that were received into `room`, and calls `handle` for each complete frame. Throws
   * RangeError for a frame larger than the HTTP/2 default of 16 KiB.
   */
  take(count: number, handle: (frame: Frame) => void): void {
    const bytes = this.#buffer;
    const received = this.#held + count;
    let position = 0;
    while (received - position >= HEADER_BYTES) {
      const length = bytes.readUIntBE(position, 3);
      if (length > LARGEST_FRAME_BYTES) throw new RangeError(`frame of ${length} bytes`);
      const end = position + HEADER_BYTES + length;
      if (received < end) break;
      const payload = bytes.subarray(position + HEADER_BYTES, end);
      const streamId = bytes.readUInt32BE(position + 5) & 0x7fffffff;
      handle({ type: bytes.readUInt8(position + 3), flags: bytes.readUInt8(position + 4), streamId, payload });
      position = end;
    }
    bytes.copyWithin(0, position, received);
    this.#held = received - position;
  }
}

/** The payload of a DATA or HEADERS frame without padding and priority. */
export function unpad(frame: Frame): Buffer {
  const { flags, payload } = frame;
  const padding = flags & frameFlag.padded ? payload.readUInt8(0) : 0;
  const start = flags & frameFlag.padded ? 1 : 0;
  const skipped = frame.type === frameType.headers && flags & frameFlag.priority ? 5 : 0;
  return payload.subarray(start + skipped, payload.length - padding);
}

/** Writes frames to a socket; everything from one turn of the event loop is sent in one write. */
export class FrameWriter {
  readonly #socket: Socket;
  #pending: Buffer[] = [];

  constructor(socket: Socket) {
    this.#socket = socket;
  }

  /** Queues bytes that are complete frames. */
  bytes(bytes: Buffer): void {
    this.#pending.push(bytes);
    if (this.#pending.length === 1) setImmediate(() => this.flush());
  }

  /** Queues any frame. */
  frame(type: number, flags: number, streamId: number, payload: Uint8Array): void {
    const bytes = Buffer.allocUnsafe(HEADER_BYTES + payload.length);
    writeHeader(bytes, 0, { type, flags, streamId, length: payload.length });
    bytes.set(payload, HEADER_BYTES);
    this.bytes(bytes);
  }

  /** Queues a frame whose payload is one 32-bit number. */
  number(type: number, streamId: number, value: number): void {
    const payload = Buffer.allocUnsafe(4);
    payload.writeUInt32BE(value, 0);
    this.frame(type, 0, streamId, payload);
  }

  /** Queues a settings frame. */
  settings(values: readonly (readonly [id: number, value: number])[]): void {
    const payload = Buffer.allocUnsafe(values.length * 6);
    for (const [index, [id, value]] of values.entries()) {
      payload.writeUInt16BE(id, index * 6);
      payload.writeUInt32BE(value, index * 6 + 2);
    }
    this.frame(frameType.settings, 0, 0, payload);
  }

  /** Queues a whole request, headers and one gRPC message, which must fit into one DATA frame. */
  request(streamId: number, headers: Buffer, message: Uint8Array): void {
    const dataStart = HEADER_BYTES + headers.length;
    const length = GRPC_PREFIX_BYTES + message.length;
    const bytes = Buffer.allocUnsafe(dataStart + HEADER_BYTES + length);
    writeHeader(bytes, 0, { type: frameType.headers, flags: frameFlag.endHeaders, streamId, length: headers.length });
    bytes.set(headers, HEADER_BYTES);
    writeHeader(bytes, dataStart, { type: frameType.data, flags: frameFlag.endStream, streamId, length });
    bytes[dataStart + HEADER_BYTES] = 0;
    bytes.writeUInt32BE(message.length, dataStart + HEADER_BYTES + 1);
    bytes.set(message, dataStart + HEADER_BYTES + GRPC_PREFIX_BYTES);
    this.bytes(bytes);
  }

  /** Sends all queued bytes now. */
  flush(): void {
    const pending = this.#pending;
    if (pending.length === 0) return;
    this.#pending = [];
    if (this.#socket.destroyed) return;
    this.#socket.write(pending.length === 1 && pending[0] !== undefined ? pending[0] : Buffer.concat(pending));
  }
}

function writeHeader(
  bytes: Buffer,
  at: number,
  header: { readonly type: number; readonly flags: number; readonly streamId: number; readonly length: number },
): void {
  bytes.writeUIntBE(header.length, at, 3);
  bytes[at + 3] = header.type;
  bytes[at + 4] = header.flags;
  bytes.writeUInt32BE(header.streamId, at + 5);
}
