/** The positions of the set bits. Position 0 is the lowest bit of the last byte. */
export function readBits(bytes: Uint8Array): Set<number> {
  const found = new Set<number>();
  for (let index = 0; index < bytes.length; index++) {
    const byte = bytes[bytes.length - 1 - index] ?? 0;
    for (let bit = 0; bit < 8; bit++) if (byte & (1 << bit)) found.add(8 * index + bit);
  }
  return found;
}

/** The shortest byte array in which exactly these bits are set. */
export function printBits(positions: ReadonlySet<number>): Uint8Array {
  let highest = -1;
  for (const position of positions) highest = Math.max(highest, position);
  const bytes = new Uint8Array((highest + 8) >> 3);
  for (const position of positions) {
    const index = bytes.length - 1 - (position >> 3);
    bytes[index] = (bytes[index] ?? 0) | (1 << (position & 7));
  }
  return bytes;
}
