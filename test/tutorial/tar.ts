/** Files by their path without a leading slash. */
export type Files = Map<string, Buffer>;

const BLOCK = 512;
/** Positions of fields in the header of an entry. */
const NAME = [0, 100] as const;
const SIZE = [124, 136] as const;
const CHECKSUM = [148, 156] as const;
const TYPE = 156;
const MAGIC = 257;
const PREFIX = [345, 500] as const;
const FILE = "0";

/** The plain files of an archive. Others, such as folders, are left out. */
export function readTar(archive: Buffer): Files {
  const files: Files = new Map();
  for (let at = 0; at + BLOCK <= archive.length && archive[at] !== 0; ) {
    const header = archive.subarray(at, at + BLOCK);
    const text = ([from, to]: readonly [number, number]) => header.toString("utf8", from, to).replace(/\0.*$/s, "");
    const size = Number.parseInt(text(SIZE), 8);
    const start = at + BLOCK;
    const name = [text(PREFIX), text(NAME)].filter(Boolean).join("/");
    const type = String.fromCharCode(header[TYPE] ?? 0);
    if (type === FILE || type === "\0") files.set(name, archive.subarray(start, start + size));
    at = start + Math.ceil(size / BLOCK) * BLOCK;
  }
  return files;
}

/** An archive of plain files with names of at most 100 bytes. */
export function writeTar(files: Iterable<readonly [name: string, content: Buffer]>): Buffer {
  const parts: Buffer[] = [];
  for (const [name, content] of files) {
    const padding = Buffer.alloc((BLOCK - (content.length % BLOCK)) % BLOCK);
    parts.push(header(name, content.length), content, padding);
  }
  return Buffer.concat([...parts, Buffer.alloc(2 * BLOCK)]);
}

function header(name: string, size: number): Buffer {
  const block = Buffer.alloc(BLOCK);
  block.write(name, NAME[0]);
  block.write("0000644\0", 100);
  block.write("0000000\0".repeat(2), 108);
  block.write(`${size.toString(8).padStart(11, "0")}\0`, SIZE[0]);
  block.write("00000000000\0", 136);
  block.fill(" ", ...CHECKSUM);
  block.write(FILE, TYPE);
  block.write("ustar\x0000", MAGIC);
  const sum = block.reduce((total, byte) => total + byte, 0);
  block.write(`${sum.toString(8).padStart(6, "0")}\0 `, CHECKSUM[0]);
  return block;
}
