import { appendFileSync, existsSync, readFileSync } from "node:fs";
import type { CostResult } from "./results.ts";

/** The parts of a run: fields at either size, requests that make no field large, and fields in every way and encoding. */
export type Part = "screen" | "large" | "other" | "matrix";

/** What came of a class, or of a request without a place, in one part of a run. */
export interface Screened {
  readonly key: string;
  readonly size: Part;
  readonly places: number;
  readonly requests: number;
  /** Growths of the first place to send at the large size, as the small one shows. */
  readonly next?: readonly string[];
  /** The dearest, all that failed, and all that took much memory. */
  readonly results: readonly CostResult[];
}

/** What is known so far, in a file if there is one, so that a run can be taken up again. */
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
