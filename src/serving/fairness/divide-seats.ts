/** The seats that one priority level wants, and the limits within which it gets them. */
export interface SeatClaim {
  readonly lower: number;
  readonly upper: number;
  /** At least `lower`. */
  readonly target: number;
}

/** How the seats are divided. `fraction`: the part of its target that each level gets, unless a limit applies. */
export interface SeatDivision {
  readonly seats: readonly number[];
  readonly fraction: number;
}

const LEAST_TARGET = 0.001;
/** More halvings than a double has bits. */
const HALVINGS = 80;

/**
 * Divides `total` seats in proportion to the targets, within the limits. Returns undefined if the limits do not allow it.
 * Compat: computeConcurrencyAllocation, which sorts all limits and adds them up; the sum of the seats grows with the
 * fraction, so halving an interval finds the same fraction.
 */
export function divideSeats(total: number, claims: readonly SeatClaim[]): SeatDivision | undefined {
  const targets = claims.map(({ target }) => Math.max(target, LEAST_TARGET));
  const seatsAt = (fraction: number): number[] =>
    claims.map(({ lower, upper }, index) => Math.max(lower, Math.min(upper, fraction * (targets[index] as number))));
  const sumAt = (fraction: number): number => seatsAt(fraction).reduce((sum, seats) => sum + seats, 0);
  let low = 0;
  let high = claims.reduce((most, { upper }, index) => Math.max(most, upper / (targets[index] as number)), 0);
  if (sumAt(low) > total || sumAt(high) < total) return undefined;
  for (let turn = 0; turn < HALVINGS && low < high; turn++) {
    const middle = (low + high) / 2;
    if (sumAt(middle) < total) low = middle;
    else high = middle;
  }
  return { seats: seatsAt(high), fraction: high };
}
