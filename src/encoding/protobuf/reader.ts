import { MAX_BODY_BYTES, MAX_VALUES, tooManyAdded, tooManyValues } from "../../api/body-limits.ts";
import type { Json } from "../../api/object.ts";
import { WireReader } from "../../lib/wire-reader.ts";
import { DecodeError, exactInteger, MAX_DEPTH } from "../json/json.ts";

/** Reads the message of a request: what is wrong with it is a DecodeError, and numbers are as JSON has them. */
export class Reader extends WireReader {
  #depth = 0;
  readonly #isBody: boolean;
  #values = 0;
  #added = 0;

  /** The message of a body is refused with 413 when it holds too much; what is stored is read however large it is. */
  constructor(bytes: Uint8Array, isBody = false) {
    super(bytes);
    this.#isBody = isBody;
  }

  get isBody(): boolean {
    return this.#isBody;
  }

  /** Counts an item or an entry. Throws 413. */
  count(): void {
    if (++this.#values > MAX_VALUES && this.#isBody) throw tooManyValues();
  }

  /** Counts the bytes that members take as JSON which the message does not have, but which are always written. Throws 413. */
  add(bytes: number): void {
    this.#added += bytes;
    if (this.#added > MAX_BODY_BYTES && this.#isBody) throw tooManyAdded();
  }

  override fail(message: string): never {
    throw new DecodeError(message);
  }

  /** Called on entering a nested message: bounds how deep they go. */
  enter(): void {
    if (++this.#depth > MAX_DEPTH) this.fail("exceeded max depth");
    this.count();
  }

  leave(): void {
    this.#depth--;
  }

  /** An integer of 64 bits; one that a double cannot hold keeps its digits, see `parseJson`. */
  integer(end: number): Json {
    const value = this.int64(end);
    return typeof value === "number" ? value : (exactInteger(value.toString()) ?? Number(value));
  }
}
