import type { Inflate } from "node:zlib";
import { SPDY_DICTIONARY } from "./dictionary.ts";
import { words } from "./frames.ts";

/** Headers of a stream; names are lower case. */
export type SpdyHeaders = ReadonlyMap<string, string>;

/** What a header block may be packed out to. */
const MAX_BLOCK_BYTES = 64 * 1024;
const MAX_PAIRS = 256;

const ZLIB_HEAD = Buffer.from([0x78, 0x01]);
/** An empty stored block, as a sync flush writes it: Go's reader hands on what it has only when it sees one. */
const FLUSH = Buffer.from([0, 0, 0, 0xff, 0xff]);

/**
 * Prints header blocks. They have to be a zlib stream, but nothing needs to be compressed in one: blocks are stored, so that a
 * connection costs no memory for it.
 */
export class HeaderPrinter {
  #isFirst = true;

  print(headers: Iterable<readonly [name: string, value: string]>): Buffer {
    const pairs = [...headers];
    const parts = pairs.flatMap(([name, value]) => [...text(name.toLowerCase()), ...text(value)]);
    const block = Buffer.concat([words(pairs.length), ...parts]);
    if (block.length > 0xff_ff) throw new Error("headers of a SPDY stream have at most 64 KB");
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

/** Reads header blocks, all of one connection in their order. */
export class HeaderReader {
  #inflate: Inflate | undefined;
  #size = 0;
  #chunks: Buffer[] = [];

  /** The headers of a block. Rejects when they are none, or too long. */
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
      if (this.#size > MAX_BLOCK_BYTES) inflate.destroy(new Error("headers of a SPDY stream are too long"));
      else this.#chunks.push(chunk);
    });
    this.#inflate = inflate;
    return inflate;
  }
}

function readPairs(block: Buffer): SpdyHeaders {
  const headers = new Map<string, string>();
  const count = block.readUInt32BE(0);
  if (count > MAX_PAIRS) throw new Error("a SPDY stream has too many headers");
  let at = 4;
  const next = (): string => {
    const length = block.readUInt32BE(at);
    const end = at + 4 + length;
    if (end > block.length) throw new Error("headers of a SPDY stream are cut off");
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
