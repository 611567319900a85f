/** A file that should be a bbolt database is none, or is damaged. */
export class BoltError extends Error {
  constructor(message: string) {
    super(message);
    this.name = "BoltError";
  }
}

/** What a database says of itself. */
export interface BoltMeta {
  readonly pageBytes: number;
  /** The page that the bucket of all buckets begins with. */
  readonly root: number;
  /** Every page of the database has a number below this one. */
  readonly pageCount: number;
  readonly transaction: bigint;
}

/** Behind the header of a page: fields of 4 and 8 bytes, the last of which is a checksum of those before. */
const META_START = 16;
const CHECKSUM_AT = 72;
const META_END = 80;
const MAGIC = 0xed0cdaed;
const VERSION = 2;
const MIN_PAGE_BYTES = 1024;
const MAX_PAGE_BYTES = 16 * 1024 * 1024;

/**
 * A database begins with two pages that tell the same, of its last two transactions; a crash damages one at most. Throws
 * BoltError when neither is whole.
 */
export function newestMeta(read: (offset: number, length: number) => Buffer): BoltMeta {
  const first = readMeta(read(0, META_END));
  const found: BoltMeta[] = first ? [first] : [];
  if (first) {
    const second = readMeta(read(first.pageBytes, META_END));
    if (second) found.push(second);
  } else {
    // Where the second page begins is told by the first one only.
    for (let size = MIN_PAGE_BYTES; size <= MAX_PAGE_BYTES; size *= 2) {
      const second = readMeta(read(size, META_END));
      if (second?.pageBytes === size) found.push(second);
    }
  }
  const newest = found.reduce<BoltMeta | undefined>(
    (best, one) => (best === undefined || one.transaction > best.transaction ? one : best),
    undefined,
  );
  if (newest === undefined) throw new BoltError("this is no bbolt database, or its first pages are damaged");
  return newest;
}

/** Whether a file begins as a database does. */
export function isBolt(beginning: Uint8Array): boolean {
  const bytes = Buffer.from(beginning.buffer, beginning.byteOffset, beginning.byteLength);
  return bytes.length >= META_END && bytes.readUInt32LE(META_START) === MAGIC;
}

function readMeta(bytes: Buffer): BoltMeta | undefined {
  if (!isBolt(bytes) || bytes.readUInt32LE(META_START + 4) !== VERSION) return undefined;
  if (checksum(bytes.subarray(META_START, CHECKSUM_AT)) !== bytes.readBigUInt64LE(CHECKSUM_AT)) return undefined;
  const pageBytes = bytes.readUInt32LE(META_START + 8);
  const isPowerOfTwo = (pageBytes & (pageBytes - 1)) === 0;
  if (pageBytes < MIN_PAGE_BYTES || pageBytes > MAX_PAGE_BYTES || !isPowerOfTwo) return undefined;
  return {
    pageBytes,
    root: Number(bytes.readBigUInt64LE(META_START + 16)),
    pageCount: Number(bytes.readBigUInt64LE(META_START + 40)),
    transaction: bytes.readBigUInt64LE(META_START + 48),
  };
}

/** FNV-1a of 64 bits. */
function checksum(bytes: Uint8Array): bigint {
  let hash = 0xcbf29ce484222325n;
  for (const byte of bytes) hash = BigInt.asUintN(64, (hash ^ BigInt(byte)) * 0x100000001b3n);
  return hash;
}
