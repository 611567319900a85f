import { MAX_BODY_BYTES, MAX_VALUES, tooManyAdded, tooManyValues } from "../../../base/api/body-limits.ts";
import type { Json } from "../../../base/api/object.ts";
import { WireReader } from "../../../base/util/wire-reader.ts";
import { DecodeError, exactInteger, MAX_DEPTH } from "../json/json.ts";

/** Reads protobuf messages. Throws DecodeError, and returns numbers as in JSON. */
export class Reader extends WireReader {
  #depth = 0;
  readonly #isBody: boolean;
  #values = 0;
  #added = 0;

  /** A request body is rejected with 413 if it contains too much. Stored objects of any size are read. */
  constructor(bytes: Uint8Array, isBody = false) {
    super(bytes);
    this.#isBody = isBody;
  }

  get isBody(): boolean {
    return this.#isBody;
  }

  /** Counts an item or entry. Throws 413. */
  count(): void {
    if (++this.#values > MAX_VALUES && this.#isBody) throw tooManyValues();
  }

  /** Counts the JSON bytes of members that the message omits but that are always written. Throws 413. */
  add(bytes: number): void {
    this.#added += bytes;
    if (this.#added > MAX_BODY_BYTES && this.#isBody) throw tooManyAdded();
  }

  override fail(message: string): never {
    throw new DecodeError(message);
  }

  /** Enters a nested message. Throws if the nesting is too deep. */
  enter(): void {
    if (++this.#depth > MAX_DEPTH) this.fail("exceeded max depth");
    this.count();
  }

  leave(): void {
    this.#depth--;
  }

  /** A 64-bit integer. One that does not fit a double keeps its digits, see `parseJson`. */
  integer(end: number): Json {
    const value = this.int64(end);
    return typeof value === "number" ? value : (exactInteger(value.toString()) ?? Number(value));
  }
}
