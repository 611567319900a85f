import { printDuration, readDuration } from "../../lib/go/duration.ts";
import { expectWireType, type ValueCodec } from "./codec.ts";

/** Zero for a text that is none. */
function nanosecondsOf(text: unknown): bigint {
  const read = typeof text === "string" ? readDuration(text) : 0n;
  return typeof read === "string" ? 0n : read;
}

/** A span of time: nanoseconds in the message, Go's words in JSON. */
export const DURATION: ValueCodec = {
  wireType: 2,
  write: (out, value) => {
    out.int64(nanosecondsOf(value));
    out.tag(1, 0);
  },
  read: (input, end) => {
    let nanoseconds = 0n;
    while (input.at < end) {
      const tag = input.tag(end, "Duration");
      if (tag >>> 3 === 1) {
        expectWireType(tag & 7, 0, "duration");
        nanoseconds = BigInt(input.int64(end));
      } else input.skip(tag & 7, end);
    }
    return printDuration(nanoseconds);
  },
  zero: () => "0s",
};
