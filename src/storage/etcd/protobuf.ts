import { ProtobufError, WireReader } from "../../base/util/wire-reader.ts";
import { WireWriter } from "../../base/util/wire-writer.ts";

const VARINT = 0;
const LENGTH_DELIMITED = 2;

/**
 * Writes the fields of proto3 messages, from the end of a message to its beginning. So fields appear in reverse order
 * of the calls, which protobuf permits; repeated fields must be written last element first. A writer can be reused.
 */
export class ProtobufWriter {
  readonly #wire: WireWriter;

  constructor(capacity = 4096) {
    this.#wire = new WireWriter(capacity);
  }

  /** Returns a copy of the bytes that `write` writes. */
  encode(write: (writer: ProtobufWriter) => void): Uint8Array {
    this.#wire.reset();
    write(this);
    return this.#wire.finish();
  }

  /** An integer field; zero is omitted, as in proto3. */
  integer(field: number, value: number | bigint): void {
    if (value === 0 || value === 0n) return;
    if (typeof value === "number" && (!Number.isSafeInteger(value) || value < 0)) {
      throw new ProtobufError(`not an unsigned integer: ${value}`);
    }
    this.#wire.int64(value);
    this.#wire.tag(field, VARINT);
  }

  /** An integer field with value zero that must be present, as in a oneof. */
  zero(field: number): void {
    this.#wire.zero(field, VARINT);
  }

  /** A boolean field; false is omitted. */
  boolean(field: number, value: boolean): void {
    if (value) this.integer(field, 1);
  }

  /** A bytes field, or a string written as UTF-8; omitted if empty. */
  bytes(field: number, value: Uint8Array | string): void {
    if (value.length === 0) return;
    const before = this.#wire.size;
    if (typeof value === "string") this.#wire.string(value);
    else this.#wire.bytes(value);
    this.#wire.delimit(field, before);
  }

  /** A nested message, present even if it is empty. */
  message(field: number, write: (writer: ProtobufWriter) => void): void {
    const before = this.#wire.size;
    write(this);
    this.#wire.delimit(field, before);
  }
}

/**
 * Iterates over the fields of one message: `while (reader.next()) switch (reader.field)`. A field that is not read is
 * skipped by the next `next`. Malformed or truncated bytes throw ProtobufError.
 */
export class ProtobufReader {
  field = 0;
  readonly #wire: WireReader;
  #end: number;
  #wireType = 0;
  #pending = false;

  constructor(bytes: Uint8Array) {
    this.#wire = new WireReader(bytes);
    this.#end = bytes.byteLength;
  }

  /** Moves to the next field; false at the end of the message. */
  next(): boolean {
    if (this.#pending) this.#wire.skip(this.#wireType, this.#end);
    this.#pending = false;
    if (this.#wire.at >= this.#end) return false;
    const tag = this.#wire.tag(this.#end, "etcd");
    this.field = tag >>> 3;
    this.#wireType = tag & 7;
    this.#pending = true;
    return true;
  }

  /** The field as a signed 64-bit integer. Throws if a number cannot represent it exactly. */
  integer(): number {
    this.#take(VARINT);
    const value = this.#wire.int64(this.#end);
    if (typeof value === "bigint") throw new ProtobufError(`integer out of range: ${value}`);
    return value;
  }

  /** The field as an unsigned 64-bit integer of any size, for random identifiers. */
  bigInteger(): bigint {
    this.#take(VARINT);
    return BigInt.asUintN(64, BigInt(this.#wire.int64(this.#end)));
  }

  /** The field as a boolean. */
  boolean(): boolean {
    this.#take(VARINT);
    return this.#wire.bool(this.#end);
  }

  /** A copy of the field's bytes, which does not keep the whole message in memory. */
  bytes(): Uint8Array {
    const found = this.#wire.bytes(this.#open());
    const copy = new Uint8Array(found.length);
    copy.set(found);
    return copy;
  }

  /** The field's bytes decoded as UTF-8. */
  string(): string {
    return this.#wire.string(this.#open());
  }

  /** Reads a nested message: `read` gets this reader, limited to the nested message, and must read it to its end. */
  message<Message>(read: (reader: ProtobufReader) => Message): Message {
    const end = this.#open();
    const outerEnd = this.#end;
    this.#end = end;
    const message = read(this);
    if (this.#wire.at !== end) throw new ProtobufError("nested message not read to its end");
    this.#end = outerEnd;
    return message;
  }

  /** The end of a length-delimited field. */
  #open(): number {
    this.#take(LENGTH_DELIMITED);
    return this.#wire.length(this.#end);
  }

  #take(wireType: number): void {
    if (this.#wireType !== wireType) throw new ProtobufError(`field ${this.field} has wire type ${this.#wireType}`);
    this.#pending = false;
  }
}
