import type { Json } from "../../../base/api/object.ts";
import { memoize } from "../../../base/util/memoize.ts";
import { DecodeError } from "../json/json.ts";
import { expectWireType, type ValueCodec } from "./codec.ts";
import type { Reader } from "./reader.ts";

/** The first second of year 1, Go's zero time, and the last second of year 9999. */
const ZERO_SECONDS = -62_135_596_800;
const LAST_SECONDS = 253_402_300_799;

/** Whole seconds since 1970. Undefined for the zero time or if the value is not a time. */
function secondsOf(value: Json | undefined): number | undefined {
  if (typeof value !== "string") return undefined;
  const seconds = Math.floor(Date.parse(value) / 1000);
  return Number.isNaN(seconds) || seconds === ZERO_SECONDS ? undefined : seconds;
}

/** Reads a Timestamp. Undefined for the zero time. */
function readTimestamp(input: Reader, end: number): { seconds: number; nanos: number } | undefined {
  if (input.at === end) return undefined;
  let seconds: Json = 0;
  let nanos = 0;
  while (input.at < end) {
    const tag = input.tag(end, "Timestamp");
    if (tag >>> 3 === 1) {
      expectWireType(tag & 7, 0, "seconds");
      seconds = input.integer(end);
    } else if (tag >>> 3 === 2) {
      expectWireType(tag & 7, 0, "nanos");
      nanos = input.int32(end);
    } else input.skip(tag & 7, end);
  }
  if (typeof seconds !== "number" || seconds < ZERO_SECONDS || seconds > LAST_SECONDS || nanos < 0 || nanos >= 1e9) {
    throw new DecodeError("proto: time is out of range");
  }
  return seconds === ZERO_SECONDS && nanos === 0 ? undefined : { seconds, nanos };
}

// Objects contain the same few times repeatedly, and printing one is slow.
const printSeconds = memoize((seconds: number) => new Date(seconds * 1000).toISOString().slice(0, 19), {
  results: 512,
});

/** A time with seconds: `2006-01-02T15:04:05Z`. */
export const TIME: ValueCodec = {
  wireType: 2,
  write: (out, value) => {
    const seconds = secondsOf(value);
    if (seconds === undefined) return;
    out.uint32(0);
    out.tag(2, 0);
    out.int64(seconds);
    out.tag(1, 0);
  },
  read: (input, end) => {
    const time = readTimestamp(input, end);
    return time === undefined ? null : `${printSeconds(time.seconds)}Z`;
  },
  zero: () => null,
};

const FRACTION = /\.([0-9]{1,6})/;

/** A time with microseconds: `2006-01-02T15:04:05.000000Z`. */
export const MICRO_TIME: ValueCodec = {
  wireType: 2,
  write: (out, value) => {
    const seconds = secondsOf(value);
    if (seconds === undefined) return;
    const digits = FRACTION.exec(String(value))?.[1] ?? "";
    out.uint32(Number(digits.padEnd(6, "0")) * 1000);
    out.tag(2, 0);
    out.int64(seconds);
    out.tag(1, 0);
  },
  read: (input, end) => {
    const time = readTimestamp(input, end);
    if (time === undefined) return null;
    const micros = Math.floor(time.nanos / 1000);
    return `${printSeconds(time.seconds)}.${String(micros).padStart(6, "0")}Z`;
  },
  zero: () => null,
};
