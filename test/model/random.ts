/** Deterministic pseudo-random numbers from a seed. */
export class Random {
  #state: number;

  constructor(seed: number) {
    this.#state = seed >>> 0;
  }

  /** From 0 up to, but not including, 1. */
  next(): number {
    this.#state = (this.#state + 0x9e3779b9) >>> 0;
    let mixed = this.#state;
    mixed = Math.imul(mixed ^ (mixed >>> 16), 0x21f0aaad);
    mixed = Math.imul(mixed ^ (mixed >>> 15), 0x735a2d97);
    return ((mixed ^ (mixed >>> 15)) >>> 0) / 2 ** 32;
  }

  /** An integer from `low` to `high`, inclusive. */
  between(low: number, high: number): number {
    return low + Math.floor(this.next() * (high - low + 1));
  }

  /** True with this probability in percent. */
  percent(share: number): boolean {
    return this.next() * 100 < share;
  }

  /** A random element. */
  pick<T>(choices: readonly [T, ...T[]]): T {
    return choices[this.between(0, choices.length - 1)] ?? choices[0];
  }

  /** A new generator, seeded from this one, for a separate actor. */
  fork(): Random {
    return new Random(this.between(0, 2 ** 32 - 1));
  }
}

/** The seed of this run: MODEL_SEED, or a random one. */
export function chooseSeed(): number {
  const given = process.env.MODEL_SEED;
  return given === undefined ? Math.floor(Math.random() * 2 ** 32) : Number(given);
}

/** Scales a duration by MODEL_SCALE. */
export function scaled(seconds: number): number {
  return seconds * Number(process.env.MODEL_SCALE ?? 1);
}
