import { parseAddress, parseLooseAddress } from "../../base/net/ip-address.ts";
import type { AddressRange } from "../../base/net/ip-range.ts";
import { embeddedAddresses, isIn, rangesOf } from "./embedded-addresses.ts";

const LOOPBACK = ["127.0.0.0/8", "::1/128"];
/** Unspecified, link-local, multicast and cloud metadata addresses. */
const NEVER = [
  "0.0.0.0/8",
  "169.254.0.0/16",
  "224.0.0.0/4",
  "255.255.255.255/32",
  "::/128",
  "fe80::/10",
  "ff00::/8",
  // Metadata services that are not link-local: Alibaba Cloud, Oracle Cloud, Azure.
  "100.100.100.200/32",
  "192.0.0.192/32",
  "168.63.129.16/32",
  // The same over IPv6. EC2 has several services in its range: instance metadata at ::254, Pod credentials at ::23.
  "fd00:ec2::/32",
  // Google Cloud, Oracle Cloud, Scaleway.
  "fd20:ce::/32",
  "fd00:c1::a9fe:a9fe/128",
  "fd00:42::42/128",
];

/** Which addresses requests may be proxied to. */
export class AddressRules {
  readonly #refused: readonly AddressRange[];
  readonly #allowed: readonly AddressRange[];

  /** `allowed`: CIDR ranges that are allowed although they are denied by default. Throws if a range is invalid. */
  constructor(allowed: readonly string[], isLoopbackAllowed = false) {
    this.#refused = rangesOf(isLoopbackAllowed ? NEVER : [...LOOPBACK, ...NEVER]);
    this.#allowed = rangesOf(allowed);
  }

  /**
   * Whether a text is an address and connecting to it is allowed. The IPv4 addresses that it contains must be allowed, too.
   *
   * Differs: a part with a leading zero is not allowed. `getaddrinfo` reads 0177.0.0.1 as 127.0.0.1, upstream's
   * `ParseIPSloppy` as 177.0.0.1, and Go's dialer takes it for a host name.
   */
  allows(text: string): boolean {
    const bytes = parseAddress(text);
    if (bytes === undefined) return false;
    if (isIn(this.#allowed, bytes)) return true;
    return [bytes, ...embeddedAddresses(bytes)].every((one) => isIn(this.#allowed, one) || !isIn(this.#refused, one));
  }
}

/** Whether a text is an IP address rather than a host name. */
export function isAddress(text: string): boolean {
  return parseAddress(text) !== undefined;
}

/** Whether two texts are the same IP address in any notation. */
export function isSameAddress(one: string, other: string): boolean {
  const [first, second] = [formsOf(one), formsOf(other)];
  return first.some((bytes) => second.some((same) => Buffer.from(bytes).equals(same)));
}

function formsOf(text: string): Uint8Array[] {
  const bytes = parseLooseAddress(text);
  return bytes === undefined ? [] : [bytes, ...embeddedAddresses(bytes)];
}
