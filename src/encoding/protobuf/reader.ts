import type { Json } from "../../api/object.ts";
import { WireReader } from "../../lib/wire-reader.ts";
import { DecodeError, exactInteger, MAX_DEPTH } from "../json/json.ts";

/** Reads the message of a request: what is wrong with it is a DecodeError, and numbers are as JSON has them. */
export class Reader extends WireReader {
  #depth = 0;

  override fail(message: string): never {
    throw new DecodeError(message);
  }

  /** Called on entering a nested message: bounds how deep they go. */
  enter(): void {
    if (++this.#depth > MAX_DEPTH) this.fail("exceeded max depth");
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
