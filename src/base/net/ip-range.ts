import { parseAddress, printAddress } from "./ip-address.ts";

/** A CIDR range such as 10.96.0.0/16. Addresses are numbers, so that they can be counted. */
export interface AddressRange {
  /** Size of its addresses in bytes: 4 or 16. */
  readonly size: number;
  /** The prefix length. */
  readonly bits: number;
  readonly lowest: bigint;
  readonly highest: bigint;
}

/** An address as a number. */
export function addressNumber(bytes: Uint8Array): bigint {
  return bytes.reduce((number, byte) => (number << 8n) | BigInt(byte), 0n);
}

/** Prints the address of `size` bytes with this number. */
export function printNumber(number: bigint, size: number): string {
  const bytes = new Uint8Array(size);
  for (let at = size - 1, rest = number; at >= 0; at--, rest >>= 8n) bytes[at] = Number(rest & 0xffn);
  return printAddress(bytes);
}

/** The range of this prefix length that contains an address. */
export function rangeAround(address: Uint8Array, bits: number): AddressRange {
  const free = BigInt(8 * address.length - bits);
  const lowest = (addressNumber(address) >> free) << free;
  return { size: address.length, bits, lowest, highest: lowest + (1n << free) - 1n };
}

/** Parses a CIDR range strictly. Undefined if it is malformed. Bits after the prefix are dropped. */
export function parseRange(text: string): AddressRange | undefined {
  const [address = "", length = "", ...rest] = text.split("/");
  const bytes = parseAddress(address);
  if (bytes === undefined || rest.length > 0 || !/^(?:0|[1-9][0-9]*)$/.test(length)) return undefined;
  const bits = Number(length);
  return bits > 8 * bytes.length ? undefined : rangeAround(bytes, bits);
}

/** The text of a range. */
export function printRange({ lowest, size, bits }: AddressRange): string {
  return `${printNumber(lowest, size)}/${bits}`;
}
