/** The bytes are not a valid protobuf message. */
export class ProtobufError extends Error {
  constructor(message: string) {
    super(message);
    this.name = "ProtobufError";
  }
}

const UNEXPECTED_END = "unexpected EOF";
const OVERFLOW = "proto: integer overflow";
const NEGATIVE_LENGTH = "proto: negative length found during unmarshaling";
const TWO_TO_32 = 2 ** 32;
/** Strings up to this length are read character by character, which is faster than Buffer.toString. */
const SHORT_STRING = 24;

/**
 * Reads a protobuf message from its beginning. No method reads beyond the given `end`, and each fails on malformed
 * bytes. Error messages are those of gogo/protobuf's generated code.
 */
export class WireReader {
  readonly #bytes: Buffer;
  /** Index of the next byte. */
  at = 0;
  /** The upper half of the last varint. */
  #high = 0;

  constructor(bytes: Uint8Array) {
    this.#bytes = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  }

  get size(): number {
    return this.#bytes.length;
  }

  /** Reports malformed bytes. A subclass may throw another error. */
  fail(message: string): never {
    throw new ProtobufError(message);
  }

  /** The lower 32 bits of a varint, unsigned. The upper bits are in `#high`. */
  #varint(end: number): number {
    const bytes = this.#bytes;
    let low = 0;
    let high = 0;
    for (let shift = 0; shift < 64; shift += 7) {
      if (this.at >= end) this.fail(UNEXPECTED_END);
      const byte = bytes[this.at++] as number;
      const bits = byte & 0x7f;
      if (shift < 28) low |= bits << shift;
      else if (shift === 28) {
        low |= bits << 28;
        high = bits >>> 4;
      } else high |= bits << (shift - 32);
      if (byte < 0x80) {
        this.#high = high >>> 0;
        return low >>> 0;
      }
    }
    this.fail(OVERFLOW);
  }

  /** The tag of a field: number times eight, plus wire type. `message` is the message name in errors. */
  tag(end: number, message: string): number {
    const tag = this.#varint(end);
    if ((tag & 7) === 4) this.fail(`proto: ${message}: wiretype end group for non-group`);
    if (tag < 8 || this.#high !== 0) {
      this.fail(`proto: ${message}: illegal tag ${tag >>> 3} (wire type ${tag})`);
    }
    return tag;
  }

  /** Reads a length. Returns the index where the content ends. */
  length(end: number): number {
    const low = this.#varint(end);
    if (this.#high >= 0x80000000) this.fail(NEGATIVE_LENGTH);
    if (this.#high !== 0 || low > end - this.at) this.fail(UNEXPECTED_END);
    return this.at + low;
  }

  int32(end: number): number {
    return this.#varint(end) | 0;
  }

  bool(end: number): boolean {
    return this.#varint(end) !== 0 || this.#high !== 0;
  }

  /** A signed 64-bit integer. A bigint only if a number cannot represent it. */
  int64(end: number): number | bigint {
    const low = this.#varint(end);
    const value = (this.#high | 0) * TWO_TO_32 + low;
    return Number.isSafeInteger(value) ? value : (BigInt(this.#high | 0) << 32n) + BigInt(low);
  }

  double(end: number): number {
    const { at } = this;
    if (end - at < 8) this.fail(UNEXPECTED_END);
    this.at += 8;
    return this.#bytes.readDoubleLE(at);
  }

  /** The bytes up to `end`, not copied. */
  bytes(end: number): Buffer {
    const { at } = this;
    this.at = end;
    return this.#bytes.subarray(at, end);
  }

  /** The text up to `end`. Invalid UTF-8 becomes U+FFFD. */
  string(end: number): string {
    const { at } = this;
    this.at = end;
    if (end - at > SHORT_STRING) return this.#bytes.toString("utf8", at, end);
    let text = "";
    for (let index = at; index < end; index++) {
      const code = this.#bytes[index] as number;
      if (code >= 0x80) return this.#bytes.toString("utf8", at, end);
      text += String.fromCharCode(code);
    }
    return text;
  }

  base64(end: number): string {
    const { at } = this;
    this.at = end;
    return this.#bytes.toString("base64", at, end);
  }

  /** Skips the payload of an unknown field. */
  skip(wireType: number, end: number): void {
    let open = 0;
    let type = wireType;
    for (;;) {
      if (type === 0) this.#varint(end);
      else if (type === 1) this.#pass(8, end);
      else if (type === 2) this.at = this.length(end);
      else if (type === 3) open++;
      else if (type === 4) open--;
      else if (type === 5) this.#pass(4, end);
      else this.fail(`proto: illegal wireType ${type}`);
      if (open === 0) return;
      type = this.#varint(end) & 7;
    }
  }

  #pass(count: number, end: number): void {
    if (count > end - this.at) this.fail(UNEXPECTED_END);
    this.at += count;
  }
}
