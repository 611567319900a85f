import { closeSync, fstatSync, openSync, readSync } from "node:fs";
import { BoltError, newestMeta } from "./bolt-meta.ts";

/** An item of a bucket. Key and value are views of the memory of their page, which is not reused. */
export interface BoltItem {
  readonly key: Buffer;
  readonly value: Buffer;
  /** Position of the value in the file. */
  readonly offset: number;
}

interface Page {
  readonly bytes: Buffer;
  /** Position of `bytes` in the file. */
  readonly offset: number;
}

const HEADER_BYTES = 16;
const ELEMENT_BYTES = 16;
const BRANCH = 0x01;
const LEAF = 0x02;
/** The item is a bucket. */
const BUCKET = 0x01;
const BUCKET_BYTES = 16;
/** Real files have at most five levels of branches. */
const MAX_DEPTH = 32;
/** Maximum size of a page with its overflow pages. etcd accepts no request of that size. */
const MAX_PAGE_BYTES = 256 * 1024 * 1024;

/**
 * Reads a bbolt database, the file format of etcd. Numbers are little-endian, as on every platform that etcd supports.
 * Only the pages on the path to an item are in memory. Throws BoltError if the file is malformed.
 */
export class BoltFile {
  readonly #file: number;
  readonly #pageBytes: number;
  readonly #root: number;
  /** Page ids are lower than this. */
  readonly #pageCount: number;
  /** Size of the file in bytes. */
  readonly size: number;

  private constructor(file: number) {
    this.#file = file;
    this.size = fstatSync(file).size;
    const { pageBytes, root, pageCount } = newestMeta((offset, length) => this.read(offset, length));
    this.#pageBytes = pageBytes;
    this.#root = root;
    this.#pageCount = pageCount;
    if (pageCount * pageBytes > this.size)
      throw new BoltError("the file is truncated: it has fewer pages than its header states");
  }

  static open(path: string): BoltFile {
    const file = openSync(path, "r");
    try {
      return new BoltFile(file);
    } catch (error) {
      closeSync(file);
      throw error;
    }
  }

  close(): void {
    closeSync(this.#file);
  }

  /** Bytes of the file; fewer at its end. */
  read(offset: number, length: number): Buffer {
    const bytes = Buffer.allocUnsafe(length);
    let at = 0;
    while (at < length) {
      const count = readSync(this.#file, bytes, at, length - at, offset + at);
      if (count === 0) break;
      at += count;
    }
    return bytes.subarray(0, at);
  }

  /** The items of a top-level bucket in key order, without nested buckets. Empty if the bucket does not exist. */
  *items(bucket: string): Generator<BoltItem> {
    const name = Buffer.from(bucket);
    const visits = { left: this.#pageCount };
    for (const { key, value, offset, flags } of this.#walk(this.#page(this.#root), visits, 0)) {
      if ((flags & BUCKET) === 0 || !key.equals(name)) continue;
      if (value.length < BUCKET_BYTES) throw new BoltError(`the bucket ${bucket} has no root`);
      const root = Number(value.readBigUInt64LE(0));
      // A small bucket is stored inline, with root 0.
      const inline: Page = { bytes: value.subarray(BUCKET_BYTES), offset: offset + BUCKET_BYTES };
      for (const item of this.#walk(root === 0 ? inline : this.#page(root), visits, 0)) {
        if ((item.flags & BUCKET) === 0) yield item;
      }
      return;
    }
  }

  *#walk(page: Page, visits: { left: number }, depth: number): Generator<BoltItem & { readonly flags: number }> {
    if (depth > MAX_DEPTH || visits.left-- < 0) throw new BoltError("page references form a cycle");
    const { bytes, offset } = page;
    if (bytes.length < HEADER_BYTES) throw new BoltError(`the page at ${offset} has no header`);
    const type = bytes.readUInt16LE(8);
    const count = bytes.readUInt16LE(10);
    if (HEADER_BYTES + count * ELEMENT_BYTES > bytes.length) throw new BoltError(`the page at ${offset} is too short`);
    for (let index = 0; index < count; index++) {
      const at = HEADER_BYTES + index * ELEMENT_BYTES;
      if (type === BRANCH) {
        yield* this.#walk(this.#page(Number(bytes.readBigUInt64LE(at + 8))), visits, depth + 1);
      } else if (type === LEAF) {
        const start = at + bytes.readUInt32LE(at + 4);
        const middle = start + bytes.readUInt32LE(at + 8);
        const end = middle + bytes.readUInt32LE(at + 12);
        if (end > bytes.length) throw new BoltError(`an item of the page at ${offset} is longer than the page`);
        const key = bytes.subarray(start, middle);
        yield { key, value: bytes.subarray(middle, end), offset: offset + middle, flags: bytes.readUInt32LE(at) };
      } else throw new BoltError(`the page at ${offset} is neither a branch nor a leaf`);
    }
  }

  #page(id: number): Page {
    const pageBytes = this.#pageBytes;
    if (id < 2 || id >= this.#pageCount) throw new BoltError(`page ${id} does not exist`);
    const offset = id * pageBytes;
    const first = this.read(offset, pageBytes);
    if (first.length < HEADER_BYTES || Number(first.readBigUInt64LE(0)) !== id) {
      throw new BoltError(`page ${id} has another id in its header`);
    }
    const overflow = first.readUInt32LE(12);
    if (overflow === 0) return { bytes: first, offset };
    const length = (overflow + 1) * pageBytes;
    if (id + overflow >= this.#pageCount || length > MAX_PAGE_BYTES) throw new BoltError(`page ${id} is too long`);
    return { bytes: this.read(offset, length), offset };
  }
}
