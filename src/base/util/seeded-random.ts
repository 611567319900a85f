import type { Random } from "./random.ts";

/** Reproducible random numbers whose state can be saved. */
export interface SeededRandom extends Random {
  /** Returns a seed that continues the sequence from here. */
  save(): number;
}

/** Each byte as two digits. */
const HEX: readonly string[] = Array.from({ length: 256 }, (_, byte) => byte.toString(16).padStart(2, "0"));

/** Random numbers that depend only on the seed. */
export function seededRandom(seed: number): SeededRandom {
  let state = seed >>> 0;
  // Mulberry32: short, and even enough for tests.
  const fraction = (): number => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
  const integer = (below: number): number => Math.floor(fraction() * below);
  const bytes = (count: number): Uint8Array => Uint8Array.from({ length: count }, () => integer(256));
  return {
    save: () => state,
    fraction,
    integer,
    bytes,
    uuid() {
      let hex = "";
      for (let index = 0; index < 16; index += 1) hex += HEX[integer(256)];
      const variant = "89ab"[integer(4)];
      const last = `${variant}${hex.slice(17, 20)}-${hex.slice(20)}`;
      return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-4${hex.slice(13, 16)}-${last}`;
    },
  };
}
