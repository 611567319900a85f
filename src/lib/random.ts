import { randomBytes, randomInt, randomUUID } from "node:crypto";

/** Chance, replaceable in tests. */
export interface Random {
  /** A new UUID, such as an object's uid. */
  uuid(): string;
  /** A whole number from 0 up to, but not including, `below`. */
  integer(below: number): number;
  /** A number from 0 up to, but not including, 1. */
  fraction(): number;
  bytes(count: number): Uint8Array;
}

/** What nobody can guess. */
export const systemRandom: Random = {
  uuid: () => randomUUID(),
  integer: (below) => randomInt(below),
  fraction: () => Math.random(),
  bytes: (count) => randomBytes(count),
};
