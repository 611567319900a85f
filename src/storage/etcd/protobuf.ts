/** Thrown for bytes that are not the message they should be. */
export class ProtobufError extends Error {
  constructor(message: string) {
    super(message);
    this.name = "ProtobufError";
  }
}

const VARINT = 0;
const FIXED64 = 1;
const LENGTH_DELIMITED = 2;
const FIXED32 = 5;

/**
 * Writes one message from its end to its beginning, so that the length of a nested message is known when its header is
 * written. Fields therefore appear in reverse order of the calls, which protobuf permits; repeated fields must be
 * written last element first. One writer can be used again and again.
 */
export class ProtobufWriter {
  #buffer: Buffer;
  #position: number;

  constructor(capacity = 4096) {
    this.#buffer = Buffer.allocUnsafeSlow(capacity);
    this.#position = capacity;
  }

  /** Encodes what `write` writes and returns it as bytes of its own. */
  encode(write: (writer: ProtobufWriter) => void): Uint8Array {
    this.#position = this.#buffer.length;
    write(this);
    return new Uint8Array(this.#buffer.subarray(this.#position));
  }

  /** An integer field; zero is left out, as proto3 does. */
  integer(field: number, value: number | bigint): void {
    if (value === 0 || value === 0n) return;
    this.#varint(value);
    this.#varint(field * 8 + VARINT);
  }

  /** An integer field that is zero and must be present all the same, as a member of a oneof. */
  zero(field: number): void {
    this.#varint(0);
    this.#varint(field * 8 + VARINT);
  }

  /** A boolean field; false is left out. */
  boolean(field: number, value: boolean): void {
    if (value) this.integer(field, 1);
  }

  /** A bytes field, or a string written as UTF-8; empty is left out. */
  bytes(field: number, value: Uint8Array | string): void {
    if (value.length === 0) return;
    const length = typeof value === "string" ? Buffer.byteLength(value) : value.length;
    this.#reserve(length);
    this.#position -= length;
    if (typeof value === "string") this.#buffer.write(value, this.#position, length, "utf8");
    else this.#buffer.set(value, this.#position);
    this.#varint(length);
    this.#varint(field * 8 + LENGTH_DELIMITED);
  }

  /** A nested message, present even when it is empty. */
  message(field: number, write: (writer: ProtobufWriter) => void): void {
    const distanceFromEnd = this.#buffer.length - this.#position;
    write(this);
    this.#varint(this.#buffer.length - this.#position - distanceFromEnd);
    this.#varint(field * 8 + LENGTH_DELIMITED);
  }

  #varint(value: number | bigint): void {
    this.#reserve(10);
    if (typeof value === "bigint") this.#bigVarint(value);
    else this.#numberVarint(value);
  }

  #numberVarint(value: number): void {
    if (!Number.isSafeInteger(value) || value < 0) throw new ProtobufError(`not an unsigned integer: ${value}`);
    let length = 1;
    for (let rest = value; rest >= 128; rest = Math.floor(rest / 128)) length++;
    this.#position -= length;
    let at = this.#position;
    let rest = value;
    for (; rest >= 128; rest = Math.floor(rest / 128)) this.#buffer[at++] = (rest % 128) | 128;
    this.#buffer[at] = rest;
  }

  #bigVarint(value: bigint): void {
    const digits: number[] = [];
    let rest = BigInt.asUintN(64, value);
    for (; rest >= 128n; rest >>= 7n) digits.push(Number(rest & 127n) | 128);
    digits.push(Number(rest));
    this.#position -= digits.length;
    this.#buffer.set(digits, this.#position);
  }

  #reserve(length: number): void {
    if (this.#position >= length) return;
    const used = this.#buffer.length - this.#position;
    const capacity = Math.max(this.#buffer.length * 2, used + length);
    const larger = Buffer.allocUnsafeSlow(capacity);
    this.#buffer.copy(larger, capacity - used, this.#position);
    this.#buffer = larger;
    this.#position = capacity - used;
  }
}

/**
 * Walks over the fields of one message: `while (reader.next()) switch (reader.field)`. A field that is not read is
 * skipped by the following `next`. Malformed or truncated bytes throw ProtobufError.
 */
export class ProtobufReader {
  field = 0;
  readonly #buffer: Buffer;
  #position: number;
  #end: number;
  #wireType = 0;
  #pending = false;

  constructor(bytes: Uint8Array) {
    this.#buffer = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
    this.#position = 0;
    this.#end = bytes.byteLength;
  }

  /** Moves to the next field; false at the end of the message. */
  next(): boolean {
    if (this.#pending) this.#skip();
    if (this.#position >= this.#end) return false;
    const tag = this.#smallVarint();
    this.field = tag >>> 3;
    this.#wireType = tag & 7;
    if (this.field === 0) throw new ProtobufError("field number 0");
    this.#pending = true;
    return true;
  }

  /** The field as a signed 64-bit integer. Throws when a number cannot hold it exactly. */
  integer(): number {
    this.#take(VARINT);
    const first = this.#byte();
    if (first < 128) return first;
    let low = first & 127;
    let high = 0;
    for (let shift = 7; ; shift += 7) {
      if (shift > 63) throw new ProtobufError("integer longer than ten bytes");
      const byte = this.#byte();
      const bits = byte & 127;
      if (shift < 28) low |= bits << shift;
      else if (shift === 28) {
        low |= bits << 28;
        high = bits >>> 4;
      } else high |= bits << (shift - 32);
      if (byte < 128) break;
    }
    const value = (high | 0) * 4294967296 + (low >>> 0);
    if (!Number.isSafeInteger(value)) throw new ProtobufError(`integer out of range: ${value}`);
    return value;
  }

  /** The field as an unsigned 64-bit integer of any size, for random identifiers. */
  bigInteger(): bigint {
    this.#take(VARINT);
    let value = 0n;
    for (let shift = 0n; ; shift += 7n) {
      if (shift > 63n) throw new ProtobufError("integer longer than ten bytes");
      const byte = this.#byte();
      value |= BigInt(byte & 127) << shift;
      if (byte < 128) return BigInt.asUintN(64, value);
    }
  }

  /** The field as a boolean. */
  boolean(): boolean {
    return this.bigInteger() !== 0n;
  }

  /** The field's bytes, copied: they do not keep the message they came in alive. */
  bytes(): Uint8Array {
    const start = this.#open();
    const copy = new Uint8Array(this.#position - start);
    copy.set(this.#buffer.subarray(start, this.#position));
    return copy;
  }

  /** The field's bytes read as UTF-8. */
  string(): string {
    const start = this.#open();
    return this.#buffer.toString("utf8", start, this.#position);
  }

  /** Reads a nested message: `read` gets this reader, limited to the nested message, and must walk it to its end. */
  message<Message>(read: (reader: ProtobufReader) => Message): Message {
    const start = this.#open();
    const outerEnd = this.#end;
    this.#end = this.#position;
    this.#position = start;
    const message = read(this);
    if (this.#position !== this.#end) throw new ProtobufError("nested message not read to its end");
    this.#end = outerEnd;
    return message;
  }

  #open(): number {
    this.#take(LENGTH_DELIMITED);
    const length = this.#smallVarint();
    const start = this.#position;
    if (length > this.#end - start) throw new ProtobufError("truncated field");
    this.#position = start + length;
    return start;
  }

  #take(wireType: number): void {
    if (this.#wireType !== wireType) throw new ProtobufError(`field ${this.field} has wire type ${this.#wireType}`);
    this.#pending = false;
  }

  #skip(): void {
    this.#pending = false;
    if (this.#wireType === VARINT) {
      while (this.#byte() >= 128);
    } else if (this.#wireType === LENGTH_DELIMITED) {
      const length = this.#smallVarint();
      this.#advance(length);
    } else if (this.#wireType === FIXED64) this.#advance(8);
    else if (this.#wireType === FIXED32) this.#advance(4);
    else throw new ProtobufError(`unknown wire type ${this.#wireType}`);
  }

  #advance(length: number): void {
    if (length > this.#end - this.#position) throw new ProtobufError("truncated field");
    this.#position += length;
  }

  #byte(): number {
    const byte = this.#buffer[this.#position];
    if (byte === undefined || this.#position >= this.#end) throw new ProtobufError("truncated integer");
    this.#position++;
    return byte;
  }

  /** Tags and lengths: at most 32 bits. */
  #smallVarint(): number {
    let value = 0;
    for (let shift = 0; shift < 35; shift += 7) {
      const byte = this.#byte();
      value += (byte & 127) * 2 ** shift;
      if (byte < 128) {
        if (value > 0xffffffff) break;
        return value;
      }
    }
    throw new ProtobufError("tag or length out of range");
  }
}
