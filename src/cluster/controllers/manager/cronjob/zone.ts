import { BoundedMemo, memoize } from "../../../../base/util/memoize.ts";

/** Time zones change their offset only at multiples of this. */
const BLOCK_SECONDS = 900;

/** A time zone, for calculations like those of Go's package time. Moments are seconds of Unix time. */
export class Zone {
  readonly #format: Intl.DateTimeFormat | undefined;
  readonly #offsets = new BoundedMemo<number, number>({ results: 4096 });

  /** Throws RangeError if there is no such time zone. */
  constructor(timeZone: string) {
    if (timeZone !== "UTC") {
      this.#format = new Intl.DateTimeFormat("en", {
        ...({ timeZone, hourCycle: "h23", year: "numeric", month: "numeric", day: "numeric" } as const),
        ...({ hour: "numeric", minute: "numeric", second: "numeric" } as const),
      });
    }
  }

  /** Seconds that local time is ahead of UTC. */
  offset(at: number): number {
    if (this.#format === undefined) return 0;
    const block = Math.floor(at / BLOCK_SECONDS);
    const known = this.#offsets.get(block);
    if (known !== undefined) return known;
    const offset = readOffset(this.#format, block * BLOCK_SECONDS);
    this.#offsets.set(block, offset);
    return offset;
  }

  /** A Date whose UTC methods return the local time. */
  local(at: number): Date {
    return new Date((at + this.offset(at)) * 1000);
  }

  /**
   * When it is a local time, which the UTC methods of a Date return. Local times that are skipped or repeated are
   * resolved like by Go's `time.Date`.
   */
  at(local: Date): number {
    const asUtc = local.getTime() / 1000;
    const guess = this.offset(asUtc);
    return guess === 0 ? asUtc : asUtc - this.offset(asUtc - guess);
  }

  /** RFC 3339 with the offset of the zone. */
  print(at: number): string {
    const offset = this.offset(at);
    const text = this.local(at).toISOString().slice(0, 19);
    if (offset === 0) return `${text}Z`;
    const minutes = Math.trunc(Math.abs(offset) / 60);
    const two = (number: number) => `${number}`.padStart(2, "0");
    return `${text}${offset < 0 ? "-" : "+"}${two(Math.trunc(minutes / 60))}:${two(minutes % 60)}`;
  }
}

/** The time zone of an IANA name. */
export const zoneNamed: (name: string) => Zone = memoize((name: string) => new Zone(name), {
  results: 600,
  textLength: 64,
});

function readOffset(format: Intl.DateTimeFormat, at: number): number {
  const parts = new Map(format.formatToParts(at * 1000).map(({ type, value }) => [type, Number(value)]));
  const [year = 0, month = 1, day = 1] = [parts.get("year"), parts.get("month"), parts.get("day")];
  const [hour = 0, minute = 0, second = 0] = [parts.get("hour"), parts.get("minute"), parts.get("second")];
  return Date.UTC(year, month - 1, day, hour, minute, second) / 1000 - at;
}
