/** The three protobuf wire types that Kubernetes uses: varint, 64-bit, length-delimited. */
export type WireType = 0 | 1 | 2;

const START_BYTES = 64 * 1024;
/** Strings up to this length are written character by character, which is faster than Buffer.write. */
const SHORT_STRING = 48;
const TWO_TO_32 = 2 ** 32;

/**
 * Writes a protobuf message from its end to its beginning, so that the length of a nested message is known when it is
 * needed. Fields are therefore written by descending number. A writer can be reused for further messages.
 */
export class WireWriter {
  #buffer: Buffer;
  /** Index of the byte that was written last. */
  #at: number;

  constructor(capacity = START_BYTES) {
    this.#buffer = Buffer.allocUnsafeSlow(capacity);
    this.#at = capacity;
  }

  /** The number of bytes in the buffer. */
  get size(): number {
    return this.#buffer.length - this.#at;
  }

  /** Discards the content. Frees a buffer that a large message has enlarged. */
  reset(): void {
    if (this.#buffer.length > 16 * START_BYTES) this.#buffer = Buffer.allocUnsafeSlow(START_BYTES);
    this.#at = this.#buffer.length;
  }

  /** A copy of the written bytes. */
  finish(): Buffer {
    const result = Buffer.allocUnsafe(this.size);
    this.#buffer.copy(result, 0, this.#at);
    return result;
  }

  /** Reserves `count` bytes in front of the others. Returns the index of the first. */
  #reserve(count: number): number {
    if (this.#at < count) this.#grow(count);
    this.#at -= count;
    return this.#at;
  }

  #grow(count: number): void {
    const { size } = this;
    const grown = Buffer.allocUnsafeSlow(Math.max(this.#buffer.length * 2, size + count));
    this.#buffer.copy(grown, grown.length - size, this.#at);
    this.#buffer = grown;
    this.#at = grown.length - size;
  }

  /** Field number and wire type. */
  tag(number: number, wireType: WireType): void {
    this.uint32(number * 8 + wireType);
  }

  /** A complete field that contains zero or an empty text. */
  zero(number: number, wireType: WireType): void {
    if (number < 16) {
      const at = this.#reserve(2);
      this.#buffer[at] = number * 8 + wireType;
      this.#buffer[at + 1] = 0;
      return;
    }
    this.uint32(0);
    this.tag(number, wireType);
  }

  /** The tag and length of a length-delimited field. Its content is what was written since the size was `before`. */
  delimit(number: number, before: number): void {
    this.uint32(this.size - before);
    this.uint32(number * 8 + 2);
  }

  uint32(value: number): void {
    if (value < 0x80) {
      // Reserving may replace the buffer, so it comes first.
      const at = this.#reserve(1);
      this.#buffer[at] = value;
      return;
    }
    const count = value < 0x4000 ? 2 : value < 0x200000 ? 3 : value < 0x10000000 ? 4 : 5;
    let at = this.#reserve(count);
    let rest = value;
    for (let left = count; left > 1; left--) {
      this.#buffer[at++] = (rest & 0x7f) | 0x80;
      rest >>>= 7;
    }
    this.#buffer[at] = rest;
  }

  /** Any 64-bit integer. Negative ones take ten bytes. */
  int64(value: number | bigint): void {
    if (typeof value === "number") {
      if (value >= 0 && value < TWO_TO_32) this.uint32(value);
      // The low half wraps like two's complement, also for negative numbers.
      else this.#halves(Math.floor(value / TWO_TO_32) >>> 0, value >>> 0);
      return;
    }
    this.#halves(Number(BigInt.asUintN(32, value >> 32n)), Number(BigInt.asUintN(32, value)));
  }

  #halves(high: number, low: number): void {
    if (high === 0) {
      this.uint32(low);
      return;
    }
    const bits = 64 - Math.clz32(high);
    const count = Math.ceil(bits / 7);
    let at = this.#reserve(count);
    let [upper, lower] = [high, low];
    for (let left = count; left > 1; left--) {
      this.#buffer[at++] = (lower & 0x7f) | 0x80;
      lower = ((lower >>> 7) | (upper << 25)) >>> 0;
      upper >>>= 7;
    }
    this.#buffer[at] = lower;
  }

  double(value: number): void {
    const at = this.#reserve(8);
    this.#buffer.writeDoubleLE(value, at);
  }

  bytes(value: Uint8Array): void {
    const at = this.#reserve(value.length);
    this.#buffer.set(value, at);
  }

  /** The text in UTF-8, without its length. */
  string(value: string): void {
    const { length } = value;
    if (length <= SHORT_STRING) {
      let at = this.#reserve(length);
      for (let index = 0; index < length; index++) {
        const code = value.charCodeAt(index);
        if (code >= 0x80) {
          this.#at += length;
          this.#longString(value);
          return;
        }
        this.#buffer[at++] = code;
      }
      return;
    }
    this.#longString(value);
  }

  #longString(value: string): void {
    const count = Buffer.byteLength(value, "utf8");
    const at = this.#reserve(count);
    this.#buffer.write(value, at, count, "utf8");
  }
}
