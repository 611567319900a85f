/** Types of the control frames of SPDY/3. */
export const FrameType = {
  synStream: 1,
  synReply: 2,
  rstStream: 3,
  settings: 4,
  ping: 6,
  goAway: 7,
  headers: 8,
  windowUpdate: 9,
} as const;

/** Flag of the last frame of a stream. */
export const FLAG_FIN = 1;
/** Size of a frame head. */
export const FRAME_HEAD_BYTES = 8;

const VERSION = 3;
const MAX_FRAME_BYTES = 0xff_ff_ff;

/** The head of a frame. */
export type FrameHead =
  | { readonly type: "data"; readonly stream: number; readonly flags: number; readonly length: number }
  | { readonly type: "control"; readonly kind: number; readonly flags: number; readonly length: number };

/** Parses the eight bytes of a frame head. Throws if the SPDY version is not supported. */
export function readFrameHead(bytes: Buffer): FrameHead {
  const first = bytes.readUInt32BE(0);
  const flags = bytes.readUInt8(4);
  const length = bytes.readUIntBE(5, 3);
  if (first < 0x80_00_00_00) return { type: "data", stream: first, flags, length };
  const version = (first >>> 16) & 0x7f_ff;
  if (version !== VERSION) throw new Error(`SPDY version ${version} is not supported`);
  return { type: "control", kind: first & 0xff_ff, flags, length };
}

/** The head of a data frame. */
export function dataHead(stream: number, length: number, flags = 0): Buffer {
  if (length > MAX_FRAME_BYTES) throw new Error("a SPDY frame is limited to 16 MiB");
  const head = Buffer.allocUnsafe(FRAME_HEAD_BYTES);
  head.writeUInt32BE(stream);
  head.writeUInt32BE(length, 4);
  head.writeUInt8(flags, 4);
  return head;
}

/** A whole control frame. */
export function controlFrame(kind: number, flags: number, ...parts: readonly Buffer[]): Buffer {
  const length = parts.reduce((sum, part) => sum + part.length, 0);
  const head = Buffer.allocUnsafe(FRAME_HEAD_BYTES);
  head.writeUInt32BE((0x80_00_00_00 + VERSION * 0x1_00_00 + kind) >>> 0);
  head.writeUInt32BE(length, 4);
  head.writeUInt8(flags, 4);
  return Buffer.concat([head, ...parts]);
}

/** Encodes numbers as four bytes each. */
export function words(...numbers: readonly number[]): Buffer {
  const bytes = Buffer.allocUnsafe(4 * numbers.length);
  for (const [index, number] of numbers.entries()) bytes.writeUInt32BE(number, 4 * index);
  return bytes;
}
