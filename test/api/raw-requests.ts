import { connect } from "node:tls";

const QUIET_MS = 5000;

function converse(base: string, protocol: "http/1.1" | "h2", bytes: Buffer): Promise<Buffer> {
  const { hostname, port } = new URL(base);
  return new Promise((resolve, reject) => {
    const chunks: Buffer[] = [];
    const socket = connect({
      host: hostname,
      port: Number(port),
      rejectUnauthorized: false,
      ALPNProtocols: [protocol],
    });
    socket.once("secureConnect", () => socket.write(bytes));
    socket.on("data", (chunk: Buffer) => {
      chunks.push(chunk);
      if (protocol === "h2" && hasEnded(Buffer.concat(chunks))) socket.destroy();
    });
    socket.setTimeout(QUIET_MS, () => socket.destroy());
    // A server that rejects a request may reset the connection while the rest of it is in transit.
    socket.on("error", (error: NodeJS.ErrnoException) => {
      if (error.code !== "ECONNRESET" && error.code !== "EPIPE") reject(error);
    });
    socket.once("close", () => resolve(Buffer.concat(chunks)));
  });
}

/**
 * Sends bytes unchanged over HTTP/1.1 and resolves to the status of each response, in order. The last request must
 * close the connection.
 */
export async function statusesOf(base: string, text: string): Promise<string> {
  const answer = (await converse(base, "http/1.1", Buffer.from(text, "latin1"))).toString("latin1");
  return [...answer.matchAll(/HTTP\/1\.[01] (\d{3}) /g)].map(([, status]) => status).join(" ");
}

const PREFACE = "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n";
const FRAME = { data: 0, headers: 1, reset: 3, settings: 4, goAway: 7 } as const;
// Also the flag that acknowledges settings, which have no stream.
const END_STREAM = 0x1;
const END_HEADERS = 0x4;

function frame(type: number, flags: number, stream: number, payload: Buffer): Buffer {
  const head = Buffer.alloc(9);
  head.writeUIntBE(payload.length, 0, 3);
  head.writeUInt8(type, 3);
  head.writeUInt8(flags, 4);
  head.writeUInt32BE(stream, 5);
  return Buffer.concat([head, payload]);
}

// Literal header fields without indexing and without Huffman coding (RFC 7541, 6.2.2).
function block(fields: readonly (readonly [string, string])[]): Buffer {
  const string = (text: string) => {
    const bytes = Buffer.from(text, "latin1");
    const length = bytes.length < 127 ? [bytes.length] : [127, ...varint(bytes.length - 127)];
    return Buffer.concat([Buffer.from(length), bytes]);
  };
  return Buffer.concat(fields.flatMap(([name, value]) => [Buffer.from([0]), string(name), string(value)]));
}

function varint(value: number): number[] {
  return value < 128 ? [value] : [(value % 128) + 128, ...varint(Math.floor(value / 128))];
}

interface Frame {
  readonly type: number;
  readonly flags: number;
  readonly stream: number;
  readonly payload: Buffer;
}

function* frames(bytes: Buffer): Generator<Frame> {
  for (let at = 0; at + 9 <= bytes.length; ) {
    const length = bytes.readUIntBE(at, 3);
    if (at + 9 + length > bytes.length) return;
    const [type, flags, stream] = [bytes.readUInt8(at + 3), bytes.readUInt8(at + 4), bytes.readUInt32BE(at + 5)];
    yield { type, flags, stream, payload: bytes.subarray(at + 9, at + 9 + length) };
    at += 9 + length;
  }
}

function hasEnded(bytes: Buffer): boolean {
  return [...frames(bytes)].some(
    ({ type, flags, stream, payload }) =>
      // A server that sends GOAWAY with NO_ERROR still responds.
      (type === FRAME.goAway && payload.readUInt32BE(4) !== 0) ||
      type === FRAME.reset ||
      (stream === 1 && (flags & END_STREAM) !== 0),
  );
}

/**
 * Sends the header fields unchanged on an HTTP/2 stream, with an optional body. Resolves to the code of the returned
 * Status, the kind of any other object, or "refused" if the server resets the stream or closes the connection.
 */
export async function streamed(
  base: string,
  fields: readonly (readonly [string, string])[],
  body?: string,
): Promise<string> {
  const headers = frame(FRAME.headers, END_HEADERS | (body === undefined ? END_STREAM : 0), 1, block(fields));
  const data = body === undefined ? [] : [frame(FRAME.data, END_STREAM, 1, Buffer.from(body))];
  const settings = frame(FRAME.settings, 0, 0, Buffer.alloc(0));
  const answer = await converse(base, "h2", Buffer.concat([Buffer.from(PREFACE), settings, headers, ...data]));
  const parts = [...frames(answer)].filter(({ type, stream }) => type === FRAME.data && stream === 1);
  const text = Buffer.concat(parts.map(({ payload }) => payload)).toString();
  if (text.startsWith("{")) {
    const { kind, code } = JSON.parse(text);
    return kind === "Status" ? String(code) : kind;
  }
  return text === "" ? "refused" : text.trim();
}
