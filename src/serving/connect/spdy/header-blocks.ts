import type { Inflate } from "node:zlib";
import { SPDY_DICTIONARY } from "./dictionary.ts";
import { words } from "./frames.ts";

/** Headers of a stream, by lower-case name. */
export type SpdyHeaders = ReadonlyMap<string, string>;

/** Maximum size of a decompressed header block. */
const MAX_BLOCK_BYTES = 64 * 1024;
const MAX_PAIRS = 256;

const ZLIB_HEAD = Buffer.from([0x78, 0x01]);
/** An empty stored block, as written by a sync flush. Go's reader returns data only when it sees one. */
const FLUSH = Buffer.from([0, 0, 0, 0xff, 0xff]);

/**
 * Encodes header blocks. They must be a zlib stream, but need not be compressed. Blocks are stored uncompressed, so a
 * connection needs no memory for compression.
 */
export class HeaderPrinter {
  #isFirst = true;

  print(headers: Iterable<readonly [name: string, value: string]>): Buffer {
    const pairs = [...headers];
    const parts = pairs.flatMap(([name, value]) => [...text(name.toLowerCase()), ...text(value)]);
    const block = Buffer.concat([words(pairs.length), ...parts]);
    if (block.length > 0xff_ff) throw new Error("headers of a SPDY stream exceed 64 KB");
    const stored = Buffer.allocUnsafe(5);
    stored.writeUInt8(0);
    stored.writeUInt16LE(block.length, 1);
    stored.writeUInt16LE(~block.length & 0xff_ff, 3);
    const head = this.#isFirst ? [ZLIB_HEAD] : [];
    this.#isFirst = false;
    return Buffer.concat([...head, stored, block, FLUSH]);
  }
}

function text(value: string): Buffer[] {
  const bytes = Buffer.from(value);
  return [words(bytes.length), bytes];
}

/** Decodes the header blocks of a connection, in order. */
export class HeaderReader {
  #inflate: Inflate | undefined;
  #size = 0;
  #chunks: Buffer[] = [];

  /** Decodes a block. Rejects if it is invalid or too long. */
  async read(block: Buffer): Promise<SpdyHeaders> {
    const inflate = await this.#open();
    this.#chunks = [];
    this.#size = 0;
    await new Promise<void>((resolve, reject) => {
      inflate.once("error", reject);
      inflate.write(block, () => {
        inflate.off("error", reject);
        resolve();
      });
    });
    return readPairs(Buffer.concat(this.#chunks));
  }

  close(): void {
    this.#inflate?.destroy();
  }

  async #open(): Promise<Inflate> {
    if (this.#inflate) return this.#inflate;
    const { createInflate, constants } = await import("node:zlib");
    const inflate = createInflate({
      dictionary: SPDY_DICTIONARY,
      finishFlush: constants.Z_SYNC_FLUSH,
      chunkSize: 1024,
    });
    inflate.on("error", () => {});
    inflate.on("data", (chunk: Buffer) => {
      this.#size += chunk.length;
      if (this.#size > MAX_BLOCK_BYTES) inflate.destroy(new Error("headers of a SPDY stream exceed 64 KB"));
      else this.#chunks.push(chunk);
    });
    this.#inflate = inflate;
    return inflate;
  }
}

function readPairs(block: Buffer): SpdyHeaders {
  const headers = new Map<string, string>();
  const count = block.readUInt32BE(0);
  if (count > MAX_PAIRS) throw new Error("too many headers in a SPDY stream");
  let at = 4;
  const next = (): string => {
    const length = block.readUInt32BE(at);
    const end = at + 4 + length;
    if (end > block.length) throw new Error("truncated headers of a SPDY stream");
    const found = block.toString("utf8", at + 4, end);
    at = end;
    return found;
  };
  for (let pair = 0; pair < count; pair++) {
    const name = next();
    headers.set(name, next());
  }
  return headers;
}
