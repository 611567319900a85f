import { createHash } from "node:crypto";
import { decodeKey, decodeKeyValue } from "../etcd/messages.ts";
import { compareKeys } from "../ordered-map.ts";
import type { Entry } from "../store.ts";
import { BoltFile } from "./bolt-file.ts";
import { BoltError } from "./bolt-meta.ts";

/** Position of the newest value of a key in the file. */
interface Place {
  readonly offset: number;
  readonly length: number;
}

const HASH_BYTES = 32;
/** Page sizes are multiples of this, so a remainder is not part of the database. */
const SECTOR_BYTES = 512;
const HASHED_AT_ONCE = 4 * 1024 * 1024;
/** Length of `mainRevision_subRevision`, eight bytes each. The key of a deletion has one more byte. */
const REVISION_BYTES = 17;
const TOMBSTONE_BYTES = 18;
/** Maximum number of keys below a prefix. */
const MAX_KEYS = 20_000_000;

/**
 * A file written by `etcdctl snapshot save`, or `member/snap/db` of a stopped etcd. Values stay in the file until they
 * are read. Deleted and overwritten keys are skipped.
 */
export class EtcdSnapshot {
  readonly #file: BoltFile;
  readonly #places = new Map<string, Place>();
  #revision = 1;

  private constructor(file: BoltFile, prefix: string) {
    this.#file = file;
    checkHash(file);
    for (const { key, value } of file.items("meta")) {
      if (key.toString() === "finishedCompactRev" && value.length >= REVISION_BYTES) this.#see(value);
    }
    for (const { key, value, offset } of file.items("key")) {
      if (key.length !== REVISION_BYTES && key.length !== TOMBSTONE_BYTES) {
        throw new BoltError(`not an etcd database: it has a key of ${key.length} bytes`);
      }
      this.#see(key);
      // The file has the whole history, oldest first.
      const name = decodeKey(value);
      if (!name.startsWith(prefix)) continue;
      if (key.length === TOMBSTONE_BYTES) this.#places.delete(name);
      else this.#places.set(name, { offset, length: value.length });
      if (this.#places.size > MAX_KEYS) throw new BoltError(`there are more than ${MAX_KEYS} keys`);
    }
  }

  /** Only reads keys that begin with `prefix`. Throws BoltError if the file is not a snapshot or is damaged. */
  static open(path: string, prefix: string): EtcdSnapshot {
    const file = BoltFile.open(path);
    try {
      return new EtcdSnapshot(file, prefix);
    } catch (error) {
      file.close();
      throw error;
    }
  }

  /** The newest revision of the whole store. */
  get revision(): number {
    return this.#revision;
  }

  /** How many keys there are. */
  get size(): number {
    return this.#places.size;
  }

  /** Entries whose key begins with `prefix`, in key order. */
  *entries(prefix = ""): Generator<Entry> {
    const keys = [...this.#places.keys()].filter((key) => key.startsWith(prefix)).sort(compareKeys);
    for (const key of keys) {
      const { offset, length } = this.#places.get(key) as Place;
      yield decodeKeyValue(this.#file.read(offset, length));
    }
  }

  close(): void {
    this.#file.close();
  }

  #see(key: Buffer): void {
    this.#revision = Math.max(this.#revision, Number(key.readBigUInt64BE(0)));
  }
}

/** `etcdctl` appends a SHA-256 of the whole file. */
function checkHash(file: BoltFile): void {
  if (file.size % SECTOR_BYTES !== HASH_BYTES) return;
  const end = file.size - HASH_BYTES;
  const hash = createHash("sha256");
  for (let at = 0; at < end; at += HASHED_AT_ONCE) hash.update(file.read(at, Math.min(HASHED_AT_ONCE, end - at)));
  if (!hash.digest().equals(file.read(end, HASH_BYTES))) {
    throw new BoltError("the snapshot is damaged: its SHA-256 does not match");
  }
}
