/** The extensions keyUsage and extendedKeyUsage of a certificate. */
export interface KeyUsages {
  /** Bits of keyUsage. */
  readonly keyUsages: readonly number[];
  /** Object identifiers. */
  readonly extendedKeyUsages: readonly string[];
}

/** Bits of the extension keyUsage, by their names in `spec.usages`. */
const BITS: ReadonlyMap<string, number> = new Map([
  ["signing", 0],
  ["digital signature", 0],
  ["content commitment", 1],
  ["key encipherment", 2],
  ["data encipherment", 3],
  ["key agreement", 4],
  ["cert sign", 5],
  ["crl sign", 6],
  ["encipher only", 7],
  ["decipher only", 8],
]);

/** Names and object identifiers of extended usages, in the order in which certificates list them. */
const EXTENDED: readonly (readonly [string, string])[] = [
  ["any", "2.5.29.37.0"],
  ["server auth", "1.3.6.1.5.5.7.3.1"],
  ["client auth", "1.3.6.1.5.5.7.3.2"],
  ["code signing", "1.3.6.1.5.5.7.3.3"],
  ["email protection", "1.3.6.1.5.5.7.3.4"],
  ["s/mime", "1.3.6.1.5.5.7.3.4"],
  ["ipsec end system", "1.3.6.1.5.5.7.3.5"],
  ["ipsec tunnel", "1.3.6.1.5.5.7.3.6"],
  ["ipsec user", "1.3.6.1.5.5.7.3.7"],
  ["timestamping", "1.3.6.1.5.5.7.3.8"],
  ["ocsp signing", "1.3.6.1.5.5.7.3.9"],
  ["microsoft sgc", "1.3.6.1.4.1.311.10.3.3"],
  ["netscape sgc", "2.16.840.1.113730.4.1"],
];

/** The extensions for `spec.usages`, whose values the API validates. */
export function keyUsagesOf(usages: readonly string[]): KeyUsages {
  const extended = EXTENDED.filter(([name]) => usages.includes(name)).map(([, type]) => type);
  return {
    keyUsages: [...new Set(usages.flatMap((usage) => BITS.get(usage) ?? []))],
    extendedKeyUsages: [...new Set(extended)],
  };
}
