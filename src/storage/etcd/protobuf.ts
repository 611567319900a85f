import { ProtobufError, WireReader } from "../../lib/wire-reader.ts";
import { WireWriter } from "../../lib/wire-writer.ts";

const VARINT = 0;
const LENGTH_DELIMITED = 2;

/**
 * Writes the fields of one proto3 message after the other, from the end of the message to its beginning. Fields
 * therefore appear in reverse order of the calls, which protobuf permits; repeated fields must be written last element
 * first. One writer can be used again and again.
 */
export class ProtobufWriter {
  readonly #wire: WireWriter;

  constructor(capacity = 4096) {
    this.#wire = new WireWriter(capacity);
  }

  /** Encodes what `write` writes and returns it as bytes of its own. */
  encode(write: (writer: ProtobufWriter) => void): Uint8Array {
    this.#wire.reset();
    write(this);
    return this.#wire.finish();
  }

  /** An integer field; zero is left out, as proto3 does. */
  integer(field: number, value: number | bigint): void {
    if (value === 0 || value === 0n) return;
    if (typeof value === "number" && (!Number.isSafeInteger(value) || value < 0)) {
      throw new ProtobufError(`not an unsigned integer: ${value}`);
    }
    this.#wire.int64(value);
    this.#wire.tag(field, VARINT);
  }

  /** An integer field that is zero and must be present all the same, as a member of a oneof. */
  zero(field: number): void {
    this.#wire.zero(field, VARINT);
  }

  /** A boolean field; false is left out. */
  boolean(field: number, value: boolean): void {
    if (value) this.integer(field, 1);
  }

  /** A bytes field, or a string written as UTF-8; empty is left out. */
  bytes(field: number, value: Uint8Array | string): void {
    if (value.length === 0) return;
    const before = this.#wire.size;
    if (typeof value === "string") this.#wire.string(value);
    else this.#wire.bytes(value);
    this.#wire.delimit(field, before);
  }

  /** A nested message, present even when it is empty. */
  message(field: number, write: (writer: ProtobufWriter) => void): void {
    const before = this.#wire.size;
    write(this);
    this.#wire.delimit(field, before);
  }
}

/**
 * Walks over the fields of one message: `while (reader.next()) switch (reader.field)`. A field that is not read is
 * skipped by the following `next`. Malformed or truncated bytes throw ProtobufError.
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

  /** The field as a signed 64-bit integer. Throws when a number cannot hold it exactly. */
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

  /** The field's bytes, copied: they do not keep the message they came in alive. */
  bytes(): Uint8Array {
    const found = this.#wire.bytes(this.#open());
    const copy = new Uint8Array(found.length);
    copy.set(found);
    return copy;
  }

  /** The field's bytes read as UTF-8. */
  string(): string {
    return this.#wire.string(this.#open());
  }

  /** Reads a nested message: `read` gets this reader, limited to the nested message, and must walk it to its end. */
  message<Message>(read: (reader: ProtobufReader) => Message): Message {
    const end = this.#open();
    const outerEnd = this.#end;
    this.#end = end;
    const message = read(this);
    if (this.#wire.at !== end) throw new ProtobufError("nested message not read to its end");
    this.#end = outerEnd;
    return message;
  }

  /** The end of a field with a length. */
  #open(): number {
    this.#take(LENGTH_DELIMITED);
    return this.#wire.length(this.#end);
  }

  #take(wireType: number): void {
    if (this.#wireType !== wireType) throw new ProtobufError(`field ${this.field} has wire type ${this.#wireType}`);
    this.#pending = false;
  }
}
