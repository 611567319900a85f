import { createHash } from "node:crypto";
import { decodeKey, decodeKeyValue } from "../etcd/messages.ts";
import { compareKeys } from "../ordered-map.ts";
import type { Entry } from "../store.ts";
import { BoltFile } from "./bolt-file.ts";
import { BoltError } from "./bolt-meta.ts";

/** Where the newest value of a key stands in the file. */
interface Place {
  readonly offset: number;
  readonly length: number;
}

const HASH_BYTES = 32;
/** Pages are a multiple of this, so that whatever is behind the last one is no part of the database. */
const SECTOR_BYTES = 512;
const HASHED_AT_ONCE = 4 * 1024 * 1024;
/** `mainRevision_subRevision`, eight bytes each; a deletion has one more. */
const REVISION_BYTES = 17;
const TOMBSTONE_BYTES = 18;
/** Most keys that a snapshot may have below a prefix. */
const MAX_KEYS = 20_000_000;

/**
 * What `etcdctl snapshot save` wrote, or `member/snap/db` of an etcd that does not run. Values stay in the file until they
 * are read; of keys that were deleted or overwritten nothing is kept.
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
        throw new BoltError(`etcd has no key of ${key.length} bytes: this is no database of etcd`);
      }
      this.#see(key);
      // The whole history is there, the oldest first.
      const name = decodeKey(value);
      if (!name.startsWith(prefix)) continue;
      if (key.length === TOMBSTONE_BYTES) this.#places.delete(name);
      else this.#places.set(name, { offset, length: value.length });
      if (this.#places.size > MAX_KEYS) throw new BoltError(`there are more than ${MAX_KEYS} keys`);
    }
  }

  /** Throws BoltError when the file is no snapshot, or is damaged. Only keys that begin with `prefix` are read. */
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

  /** In order of their keys, of which only those are read that begin with `prefix`. */
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

/** `etcdctl` writes a SHA-256 of everything behind the last page. */
function checkHash(file: BoltFile): void {
  if (file.size % SECTOR_BYTES !== HASH_BYTES) return;
  const end = file.size - HASH_BYTES;
  const hash = createHash("sha256");
  for (let at = 0; at < end; at += HASHED_AT_ONCE) hash.update(file.read(at, Math.min(HASHED_AT_ONCE, end - at)));
  if (!hash.digest().equals(file.read(end, HASH_BYTES))) {
    throw new BoltError("the snapshot does not have the SHA-256 that it ends with: it is damaged");
  }
}
