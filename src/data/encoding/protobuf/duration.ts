import { printDuration, readDuration } from "../../../base/go/duration.ts";
import { expectWireType, type ValueCodec } from "./codec.ts";

/** Zero if the text is not a duration. */
function nanosecondsOf(text: unknown): bigint {
  const read = typeof text === "string" ? readDuration(text) : 0n;
  return typeof read === "string" ? 0n : read;
}

/** A duration: nanoseconds in protobuf, Go's duration format in JSON. */
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
