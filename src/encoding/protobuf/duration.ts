import { getMember } from "../../lib/members.ts";
import { trimRight } from "../../lib/trim-right.ts";
import { expectWireType, type ValueCodec } from "./codec.ts";

const UNITS: Readonly<Record<string, bigint>> = {
  ...{ ns: 1n, us: 1_000n, µs: 1_000n, μs: 1_000n, ms: 1_000_000n },
  ...{ s: 1_000_000_000n, m: 60_000_000_000n, h: 3_600_000_000_000n },
};
const PART = /([0-9]*)(?:\.([0-9]*))?(ns|us|µs|μs|ms|s|m|h)/gy;

/** Nanoseconds in a duration as Go writes it, e.g. `1h0m0.5s`. Zero for a text that is none. */
export function parseDuration(text: string): bigint {
  const isNegative = text.startsWith("-");
  const digits = /^[-+]/.test(text) ? text.slice(1) : text;
  let total = 0n;
  let end = 0;
  for (const match of digits.matchAll(PART)) {
    const [whole, integer = "", fraction = "", unit = ""] = match;
    const factor = getMember(UNITS, unit) ?? 0n;
    total +=
      BigInt(integer) * factor + (BigInt(fraction.slice(0, 18)) * factor) / 10n ** BigInt(fraction.slice(0, 18).length);
    end += whole.length;
  }
  if (end !== digits.length) return 0n;
  return isNegative ? -total : total;
}

/** A duration in Go's words. */
export function printDuration(nanoseconds: bigint): string {
  if (nanoseconds < 0n) return `-${printDuration(-nanoseconds)}`;
  if (nanoseconds === 0n) return "0s";
  for (const [unit, next] of [
    ["ns", "us"],
    ["us", "ms"],
    ["ms", "s"],
  ] as const) {
    const limit = getMember(UNITS, next) ?? 0n;
    if (nanoseconds < limit)
      return `${decimal(nanoseconds, getMember(UNITS, unit) ?? 1n)}${unit === "us" ? "µs" : unit}`;
  }
  const minute = UNITS.m ?? 1n;
  const minutes = nanoseconds / minute;
  const seconds = `${decimal(nanoseconds % minute, UNITS.s ?? 1n)}s`;
  if (minutes === 0n) return seconds;
  return minutes < 60n ? `${minutes}m${seconds}` : `${minutes / 60n}h${minutes % 60n}m${seconds}`;
}

function decimal(value: bigint, unit: bigint): string {
  const digits = (value % unit).toString().padStart(unit.toString().length - 1, "0");
  const fraction = trimRight(digits, "0");
  const whole = (value / unit).toString();
  return unit === 1n || fraction === "" ? whole : `${whole}.${fraction}`;
}

/** A span of time: nanoseconds in the message, Go's words in JSON. */
export const DURATION: ValueCodec = {
  wireType: 2,
  write: (out, value) => {
    out.int64(typeof value === "string" ? parseDuration(value) : 0);
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
