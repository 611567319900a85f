/** Numbers that look random and are the same for the same seed. */
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

  /** A whole number from `low` to `high`, both included. */
  between(low: number, high: number): number {
    return low + Math.floor(this.next() * (high - low + 1));
  }

  /** True in so many of 100 cases. */
  percent(share: number): boolean {
    return this.next() * 100 < share;
  }

  /** One of them. */
  pick<T>(choices: readonly [T, ...T[]]): T {
    return choices[this.between(0, choices.length - 1)] ?? choices[0];
  }

  /** Another source that depends on this one's seed, for an actor of its own. */
  fork(): Random {
    return new Random(this.between(0, 2 ** 32 - 1));
  }
}

/** The seed of this run: MODEL_SEED, or a new one. */
export function chooseSeed(): number {
  const given = process.env.MODEL_SEED;
  return given === undefined ? Math.floor(Math.random() * 2 ** 32) : Number(given);
}

/** How long a run of `seconds` takes: MODEL_SCALE times as long. */
export function scaled(seconds: number): number {
  return seconds * Number(process.env.MODEL_SCALE ?? 1);
}
