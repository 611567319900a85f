import { once } from "node:events";
import { connect, type TLSSocket } from "node:tls";

/** Types of frames, as in RFC 9113, section 6. */
export const FRAMES = {
  data: 0,
  headers: 1,
  priority: 2,
  reset: 3,
  settings: 4,
  ping: 6,
  windowUpdate: 8,
  continuation: 9,
} as const;

/** Flags of DATA and HEADERS. */
export const END_STREAM = 1;
export const END_HEADERS = 4;

const PREFACE = "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n";
const HEAD_BYTES = 9;

/** A frame with any content, valid or not. */
export function frame(type: keyof typeof FRAMES, flags: number, stream: number, payload: Buffer = Buffer.alloc(0)) {
  const head = Buffer.alloc(HEAD_BYTES);
  head.writeUIntBE(payload.length, 0, 3);
  head[3] = FRAMES[type];
  head[4] = flags;
  head.writeUInt32BE(stream, 5);
  return Buffer.concat([head, payload]);
}

/** A header field in HPACK, as text that is not indexed. */
export function field(name: string, value: string): Buffer {
  return Buffer.concat([
    Buffer.from([0]),
    size(name.length),
    Buffer.from(name),
    size(value.length),
    Buffer.from(value),
  ]);
}

/** A length in HPACK: an integer with a prefix of seven bits. */
function size(length: number): Buffer {
  if (length < 127) return Buffer.from([length]);
  const bytes = [127];
  let rest = length - 127;
  for (; rest >= 128; rest >>= 7) bytes.push((rest % 128) + 128);
  return Buffer.from([...bytes, rest]);
}

/** The fields of a request. Method and scheme are indexes of HPACK's static table. */
export function fields(method: "GET" | "POST", path: string, ...more: readonly Buffer[]): Buffer {
  const [get, post, https] = [0x82, 0x83, 0x87];
  const start = Buffer.from([method === "GET" ? get : post, https]);
  return Buffer.concat([start, field(":path", path), field(":authority", "localhost"), ...more]);
}

/** A connection that sends frames regardless of the server's. */
export class RawHttp2 {
  readonly #socket: TLSSocket;
  readonly #closed: Promise<void>;
  #isOpen = true;

  private constructor(socket: TLSSocket) {
    this.#socket = socket;
    socket.on("error", () => undefined).resume();
    this.#closed = new Promise((resolve) => {
      socket.once("close", () => {
        this.#isOpen = false;
        resolve();
      });
    });
  }

  static async open(base: string): Promise<RawHttp2> {
    const { hostname, port } = new URL(base);
    const socket = connect({ host: hostname, port: Number(port), rejectUnauthorized: false, ALPNProtocols: ["h2"] });
    await once(socket, "secureConnect");
    socket.write(Buffer.concat([Buffer.from(PREFACE), frame("settings", 0, 0)]));
    return new RawHttp2(socket);
  }

  /** Whether the server has not closed the connection. */
  get isOpen(): boolean {
    return this.#isOpen;
  }

  /** Sends `count` frames as fast as the server reads them, or until it closes the connection. */
  async flood(count: number, make: (index: number) => Buffer): Promise<void> {
    const BATCH = 200;
    for (let sent = 0; sent < count && this.#isOpen; sent += BATCH) {
      const batch = Buffer.concat(Array.from({ length: BATCH }, (_, at) => make(sent + at)));
      if (this.#socket.write(batch)) await new Promise((resolve) => setImmediate(resolve));
      else await Promise.race([new Promise((resolve) => this.#socket.once("drain", resolve)), this.#closed]);
    }
  }

  close(): void {
    this.#socket.destroy();
  }
}
