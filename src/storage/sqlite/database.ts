import { accessSync, closeSync, constants, openSync } from "node:fs";
import { DatabaseSync, type StatementSync } from "node:sqlite";
import type { ChangeRow, RefusalReason } from "./messages.ts";

// "Binn" in ASCII: distinguishes our files from other SQLite files.
const applicationId = 0x42696e6e;
const schemaVersion = 1;
const readRows = 1000;
const readBytes = 4 << 20;

/**
 * One row per write, never changed. The newest row of each key is its current state. The newest row of all is never
 * deleted, so the revision counter needs no storage of its own. Deletes are marked by `is_delete`, so that nothing
 * depends on how an empty value is stored.
 */
const schema = `
  CREATE TABLE changes (
    revision        INTEGER PRIMARY KEY,
    key             TEXT    NOT NULL,
    create_revision INTEGER NOT NULL,
    is_delete       INTEGER NOT NULL,
    value           BLOB,
    expires_at_ms   INTEGER
  ) STRICT;
  CREATE TABLE compaction (
    id       INTEGER PRIMARY KEY CHECK (id = 1),
    revision INTEGER NOT NULL
  ) STRICT;
  INSERT INTO compaction VALUES (1, 0);
  PRAGMA application_id = ${applicationId};
  PRAGMA user_version = ${schemaVersion};
`;

/**
 * The SQLite file, with blocking calls. While it is open, no other process can open it. Every method is one durable
 * transaction.
 */
export class Database {
  readonly #database: DatabaseSync;
  readonly #insert: StatementSync;
  readonly #delete: StatementSync;
  readonly #select: StatementSync;

  constructor(path: string) {
    if (path !== ":memory:") createPrivately(path);
    this.#database = new DatabaseSync(path);
    try {
      // Exclusive mode before WAL: the lock is then held until close, and no shared-memory file is needed.
      this.#database.exec("PRAGMA locking_mode = EXCLUSIVE; PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL;");
      this.#transaction(() => this.#prepareSchema(path));
      this.#insert = this.#database.prepare("INSERT INTO changes VALUES (?, ?, ?, ?, ?, ?)");
      this.#delete = this.#database.prepare("DELETE FROM changes WHERE revision = ?");
      this.#select = this.#database.prepare("SELECT * FROM changes WHERE revision > ? ORDER BY revision");
    } catch (error) {
      this.#database.close();
      throw error;
    }
  }

  /** The revision given to the last `compact`; 0 if never compacted. */
  compactedRevision(): number {
    return Number(this.#database.prepare("SELECT revision FROM compaction").get()?.revision);
  }

  /** The next rows after a revision, up to about 1000 rows or 4 MB; empty if there are no more. */
  read(after: number): ChangeRow[] {
    const rows: ChangeRow[] = [];
    let size = 0;
    for (const row of this.#select.iterate(after)) {
      const value = row.is_delete === 1 ? null : row.value instanceof Uint8Array ? row.value : new Uint8Array(0);
      rows.push({
        revision: Number(row.revision),
        key: String(row.key),
        createRevision: Number(row.create_revision),
        value,
        expiresAtMs: row.expires_at_ms === null ? null : Number(row.expires_at_ms),
      });
      size += value?.length ?? 0;
      if (rows.length >= readRows || size >= readBytes) break;
    }
    return rows;
  }

  /** Writes all rows, or none if it throws. */
  commit(rows: readonly ChangeRow[]): void {
    this.#transaction(() => {
      for (const row of rows) {
        const isDelete = row.value === null ? 1 : 0;
        this.#insert.run(row.revision, row.key, row.createRevision, isDelete, row.value, row.expiresAtMs);
      }
    });
  }

  /** Records that history before this revision was compacted; `trim` deletes the rows. */
  compact(revision: number): void {
    this.#transaction(() => this.#database.prepare("UPDATE compaction SET revision = ?").run(revision));
  }

  /** Deletes these rows. */
  trim(revisions: readonly number[]): void {
    this.#transaction(() => {
      for (const revision of revisions) this.#delete.run(revision);
    });
  }

  /** Releases the file. */
  close(): void {
    this.#database.close();
  }

  #transaction(work: () => void): void {
    this.#database.exec("BEGIN IMMEDIATE");
    try {
      work();
      this.#database.exec("COMMIT");
    } catch (error) {
      if (this.#database.isTransaction) this.#database.exec("ROLLBACK");
      throw error;
    }
  }

  #prepareSchema(path: string): void {
    const version = this.#pragma("user_version");
    const tables = this.#database.prepare("SELECT count(*) AS count FROM sqlite_schema").get();
    if (version === 0 && tables?.count === 0) {
      this.#database.exec(schema);
      return;
    }
    if (this.#pragma("application_id") !== applicationId) throw new Error(`${path} is not a Binnacle database`);
    if (version !== schemaVersion) {
      throw new Error(`${path} has format ${version}, but only format ${schemaVersion} is supported`);
    }
  }

  #pragma(name: string): unknown {
    return this.#database.prepare(`PRAGMA ${name}`).get()?.[name];
  }
}

/** By default SQLite creates a world-readable file, but it contains Secrets. The journal gets the mode of the file. */
function createPrivately(path: string): void {
  try {
    closeSync(openSync(path, "wx", 0o600));
  } catch (error) {
    // Ignored: the file exists and keeps its mode, or SQLite reports the problem, except these as "disk I/O error".
    const isThere = error instanceof Error && "code" in error && error.code === "EEXIST";
    if (isThere) accessSync(path, constants.W_OK);
    else if (error instanceof Error && "code" in error && error.code === "EROFS") throw error;
  }
}

/** Primary SQLite result codes: SQLITE_BUSY, SQLITE_LOCKED and SQLITE_FULL. */
const reasons: ReadonlyMap<number, RefusalReason> = new Map([
  [5, "in-use"],
  [6, "in-use"],
  [13, "full"],
]);

/** Classifies an error of SQLite. */
export function refusalReason(error: unknown): RefusalReason {
  const code = error instanceof Error && "errcode" in error ? Number(error.errcode) & 0xff : 0;
  return reasons.get(code) ?? "other";
}
