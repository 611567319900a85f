import { isMapped, parseAddress, parseLooseAddress } from "../lib/ip-address.ts";
import { type AddressRange, addressNumber, parseRange } from "../lib/ip-range.ts";

/** What nobody is connected with unless it is allowed: this machine, its link, groups, and where clouds tell secrets. */
const LOOPBACK = ["127.0.0.0/8", "::1/128"];
const NEVER = [
  "0.0.0.0/8",
  "169.254.0.0/16",
  "224.0.0.0/4",
  "255.255.255.255/32",
  "::/128",
  "fe80::/10",
  "ff00::/8",
  // Metadata services that are not link-local: Alibaba Cloud, Oracle Cloud, Azure, EC2 over IPv6.
  "100.100.100.200/32",
  "192.0.0.192/32",
  "168.63.129.16/32",
  "fd00:ec2::254/128",
];

/** The prefix of NAT64 addresses, whose last four bytes are an IPv4 address. */
const NAT64 = parseRange("64:ff9b::/96");

const rangesOf = (texts: readonly string[]): AddressRange[] =>
  texts.map((text) => {
    const range = parseRange(text);
    if (range === undefined) throw new Error(`${text} is no range of addresses such as 127.0.0.0/8`);
    return range;
  });

/** Which addresses requests may be passed on to. */
export class AddressRules {
  readonly #refused: readonly AddressRange[];
  readonly #allowed: readonly AddressRange[];

  /** `allowed` are ranges that may be reached although they are refused to others. Throws when one is none. */
  constructor(allowed: readonly string[], isLoopbackAllowed = false) {
    this.#refused = rangesOf(isLoopbackAllowed ? NEVER : [...LOOPBACK, ...NEVER]);
    this.#allowed = rangesOf(allowed);
  }

  /** Whether a text is an address that may be connected with. */
  allows(text: string): boolean {
    const parsed = parseLooseAddress(text);
    if (parsed === undefined) return false;
    const bytes = shortest(parsed);
    return isIn(this.#allowed, bytes) || !isIn(this.#refused, bytes);
  }
}

/** Whether a text is an address rather than a name. */
export function isAddress(text: string): boolean {
  return parseAddress(text) !== undefined;
}

/** Whether two texts are the same address, however they are written. */
export function isSameAddress(one: string, other: string): boolean {
  const [first, second] = [parseLooseAddress(one), parseLooseAddress(other)];
  return first !== undefined && second !== undefined && Buffer.from(shortest(first)).equals(shortest(second));
}

/** The IPv4 address that an IPv6 address stands for, if it does. */
function shortest(bytes: Uint8Array): Uint8Array {
  const isShort = isMapped(bytes) || (NAT64 !== undefined && isIn([NAT64], bytes));
  return isShort ? bytes.subarray(12) : bytes;
}

function isIn(ranges: readonly AddressRange[], bytes: Uint8Array): boolean {
  const number = addressNumber(bytes);
  return ranges.some(({ size, lowest, highest }) => size === bytes.length && number >= lowest && number <= highest);
}
