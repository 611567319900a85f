import type { Random } from "./random.ts";

/** Reproducible random numbers whose state can be saved. */
export interface SeededRandom extends Random {
  /** Returns a seed that continues the sequence from here. */
  save(): number;
}

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
      const hex = Buffer.from(bytes(16)).toString("hex").split("");
      hex[12] = "4";
      hex[16] = "89ab"[integer(4)] ?? "8";
      return hex.join("").replace(/^(.{8})(.{4})(.{4})(.{4})(.{12})$/, "$1-$2-$3-$4-$5");
    },
  };
}
