import { appendFileSync, existsSync, readFileSync } from "node:fs";
import type { CostResult } from "./results.ts";

/**
 * The parts of a run: fields at either size, requests that enlarge no field, fields in every way and encoding, and objects of
 * administrators with small requests.
 */
export type Part = "screen" | "large" | "other" | "matrix" | "set";

/** Result of a class, or of a request without a place, in one part of a run. */
export interface Screened {
  readonly key: string;
  readonly size: Part;
  readonly places: number;
  readonly requests: number;
  /** Growths of the first place to send at the large size, according to the small one. */
  readonly next?: readonly string[];
  /** The most expensive results, all failures, and all with much memory. */
  readonly results: readonly CostResult[];
}

/** The results so far, optionally in a file, so that a run can be resumed. */
export class RunState {
  readonly #file: string | undefined;
  readonly #done = new Map<string, Screened>();

  constructor(file?: string) {
    this.#file = file;
    if (file === undefined || !existsSync(file)) return;
    for (const line of readFileSync(file, "utf8").split("\n")) {
      if (line === "") continue;
      const screened = JSON.parse(line) as Screened;
      this.#done.set(idOf(screened.key, screened.size), screened);
    }
  }

  find(key: string, size: Part): Screened | undefined {
    return this.#done.get(idOf(key, size));
  }

  keep(screened: Screened): void {
    this.#done.set(idOf(screened.key, screened.size), screened);
    if (this.#file !== undefined) appendFileSync(this.#file, `${JSON.stringify(screened)}\n`);
  }
}

const idOf = (key: string, size: Part): string => `${size} ${key}`;
