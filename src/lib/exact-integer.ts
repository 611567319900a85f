const { rawJSON } = JSON as unknown as { rawJSON(text: string): unknown };

/**
 * An integer of 64 bits that a double cannot hold, kept digit by digit. JSON.stringify and texts show its digits;
 * comparisons and sums take the nearest double, which is enough for every limit below 2^53.
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

/** A number as it was written, such as 1.0 or 1e2: no integer to a decoder of typed JSON, whatever its value. */
export class WrittenNumber extends ExactInteger {}

/** Whether a value is an integer that was kept digit by digit, because a double cannot hold it. */
export function isExactInteger(value: unknown): boolean {
  return value instanceof ExactInteger;
}

/** Whether a value of JSON is a number, exact or not. */
export function isNumber(value: unknown): value is number {
  return typeof value === "number" || value instanceof ExactInteger;
}
