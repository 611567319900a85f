import { randomBytes, randomInt, randomUUID } from "node:crypto";

/** Source of random numbers, replaceable in tests. */
export interface Random {
  /** A new UUID, such as an object's uid. */
  uuid(): string;
  /** An integer from 0 up to, but not including, `below`. */
  integer(below: number): number;
  /** A number from 0 up to, but not including, 1. */
  fraction(): number;
  bytes(count: number): Uint8Array;
}

/** Random numbers of node:crypto. Only `fraction` uses Math.random. */
export const systemRandom: Random = {
  uuid: () => randomUUID(),
  integer: (below) => randomInt(below),
  fraction: () => Math.random(),
  bytes: (count) => randomBytes(count),
};
