/** Thrown if a file is not a bbolt database or is damaged. */
export class BoltError extends Error {
  constructor(message: string) {
    super(message);
    this.name = "BoltError";
  }
}

/** Contents of a meta page. */
export interface BoltMeta {
  readonly pageBytes: number;
  /** The first page of the root bucket. */
  readonly root: number;
  /** Page ids are lower than this. */
  readonly pageCount: number;
  readonly transaction: bigint;
}

/** Follows the page header: fields of 4 and 8 bytes, ending with a checksum of the fields before it. */
const META_START = 16;
const CHECKSUM_AT = 72;
const META_END = 80;
const MAGIC = 0xed0cdaed;
const VERSION = 2;
const MIN_PAGE_BYTES = 1024;
const MAX_PAGE_BYTES = 16 * 1024 * 1024;

/**
 * A database begins with two meta pages, of its last two transactions; a crash damages at most one. Returns the newer
 * valid one. Throws BoltError if neither is valid.
 */
export function newestMeta(read: (offset: number, length: number) => Buffer): BoltMeta {
  const first = readMeta(read(0, META_END));
  const found: BoltMeta[] = first ? [first] : [];
  if (first) {
    const second = readMeta(read(first.pageBytes, META_END));
    if (second) found.push(second);
  } else {
    // Only the first meta page tells where the second one begins, so try all page sizes.
    for (let size = MIN_PAGE_BYTES; size <= MAX_PAGE_BYTES; size *= 2) {
      const second = readMeta(read(size, META_END));
      if (second?.pageBytes === size) found.push(second);
    }
  }
  const newest = found.reduce<BoltMeta | undefined>(
    (best, one) => (best === undefined || one.transaction > best.transaction ? one : best),
    undefined,
  );
  if (newest === undefined) throw new BoltError("not a bbolt database, or its meta pages are damaged");
  return newest;
}

/** Whether a file begins with the magic number of bbolt. */
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

/** 64-bit FNV-1a. */
function checksum(bytes: Uint8Array): bigint {
  let hash = 0xcbf29ce484222325n;
  for (const byte of bytes) hash = BigInt.asUintN(64, (hash ^ BigInt(byte)) * 0x100000001b3n);
  return hash;
}
