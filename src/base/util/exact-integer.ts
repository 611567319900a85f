const { rawJSON } = JSON as unknown as { rawJSON(text: string): unknown };

/**
 * A 64-bit integer that a double cannot represent, stored as digits. JSON.stringify and toString return its digits.
 * Comparisons and sums use the nearest double, which is sufficient for every limit below 2^53.
 */
export class ExactInteger {
  readonly digits: string;

  constructor(digits: string) {
    this.digits = digits;
    Object.freeze(this);
  }

  toJSON(): unknown {
    return rawJSON(this.digits);
  }

  toString(): string {
    return this.digits;
  }

  valueOf(): number {
    return Number(this.digits);
  }
}

/**
 * A number as it was written, such as 1.0 or 1e2. A decoder of typed JSON does not accept it as an integer, whatever
 * its value.
 */
export class WrittenNumber extends ExactInteger {}

/** Whether a value is an integer that was stored as digits because a double cannot represent it. */
export function isExactInteger(value: unknown): value is ExactInteger {
  return value instanceof ExactInteger;
}

/** A JSON number. `typeof` finds only those that a double represents. */
export type JsonNumber = number | ExactInteger;

/** Whether a JSON value is a number, exact or not. */
export function isNumber(value: unknown): value is JsonNumber {
  return typeof value === "number" || value instanceof ExactInteger;
}
