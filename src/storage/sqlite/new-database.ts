import { existsSync, rmSync } from "node:fs";
import type { Entry } from "../store.ts";
import { requireFitting } from "../value-limit.ts";
import { Database } from "./database.ts";
import type { ChangeRow } from "./messages.ts";

const ROWS_AT_ONCE = 1000;

/**
 * Writes a file of a SqliteStore with entries that have given revisions: a state without history. Throws, and leaves no
 * file, if the file already exists or two entries have the same revision.
 */
export class NewDatabase {
  readonly #path: string;
  readonly #database: Database;
  readonly #keys = new Map<number, string>();
  #rows: ChangeRow[] = [];
  #newest = 0;

  constructor(path: string) {
    if (existsSync(path)) throw new Error(`${path} already exists`);
    this.#path = path;
    this.#database = new Database(path);
  }

  /** `expiresAtMs` is when the entry expires; null means never. */
  add({ key, value, createRevision, modRevision }: Entry, expiresAtMs: number | null = null): void {
    requireFitting(key, value);
    const known = this.#keys.get(modRevision);
    // Objects that are served in two API groups are listed twice.
    if (known === key) return;
    if (known !== undefined) throw new Error(`${known} and ${key} have the same revision, ${modRevision}`);
    this.#keys.set(modRevision, key);
    this.#newest = Math.max(this.#newest, modRevision);
    this.#rows.push({ revision: modRevision, key, createRevision, value, expiresAtMs });
    if (this.#rows.length >= ROWS_AT_ONCE) this.#flush();
  }

  /** Writes the rest and compacts, so that earlier revisions cannot be watched or listed. */
  finish(): void {
    this.#flush();
    this.#database.compact(this.#newest);
    this.#database.close();
  }

  /** Removes the file. */
  abandon(): void {
    this.#database.close();
    for (const end of ["", "-wal", "-shm", "-journal"]) rmSync(`${this.#path}${end}`, { force: true });
  }

  #flush(): void {
    this.#database.commit(this.#rows);
    this.#rows = [];
  }
}
