import { type AddressRange, addressNumber, parseRange } from "../../base/net/ip-range.ts";

/** Parses ranges such as 127.0.0.0/8. Throws if one is malformed. */
export function rangesOf(texts: readonly string[]): AddressRange[] {
  return texts.map((text) => {
    const range = parseRange(text);
    if (range === undefined) throw new Error(`${text} is not a CIDR range such as 127.0.0.0/8`);
    return range;
  });
}

/** Whether one of the ranges contains the address. */
export function isIn(ranges: readonly AddressRange[], bytes: Uint8Array): boolean {
  const number = addressNumber(bytes);
  return ranges.some(({ size, lowest, highest }) => size === bytes.length && number >= lowest && number <= highest);
}

/** A kind of IPv6 address that contains IPv4 addresses, and where. */
interface Form {
  readonly ranges: readonly AddressRange[];
  /** The positions of the bytes of each IPv4 address. */
  readonly places: readonly (readonly number[])[];
  /** The bytes are inverted. */
  readonly isInverted?: boolean;
}

const LAST = [12, 13, 14, 15];

const form = (ranges: readonly string[], places: Form["places"], isInverted = false): Form => ({
  ranges: rangesOf(ranges),
  places,
  isInverted,
});

const FORMS: readonly Form[] = [
  // IPv4-mapped, IPv4-translated (RFC 2765), IPv4-compatible (RFC 4291), and NAT64 with the well-known prefix.
  form(["::ffff:0:0/96", "::ffff:0:0:0/96", "::/96", "64:ff9b::/96"], [LAST]),
  // NAT64 with a local prefix of 48, 56, 64 or 96 bits (RFC 8215). RFC 6052 leaves out byte 8.
  form(["64:ff9b:1::/48"], [[6, 7, 9, 10], [7, 9, 10, 11], [9, 10, 11, 12], LAST]),
  // 6to4 (RFC 3056).
  form(["2002::/16"], [[2, 3, 4, 5]]),
  // Teredo (RFC 4380): the server, and the client, whose bytes are inverted.
  form(["2001::/32"], [[4, 5, 6, 7]]),
  form(["2001::/32"], [LAST], true),
];

/** `::` and `::1` look like IPv4-compatible addresses, but are the unspecified and the loopback address. */
const PLAIN = rangesOf(["::/127"]);

/** ISATAP (RFC 5214): the interface identifier of any prefix is ::0:5efe:a.b.c.d or ::200:5efe:a.b.c.d. */
const isIsatap = (bytes: Uint8Array): boolean =>
  ((bytes[8] ?? 0) & ~0x02) === 0 && bytes[9] === 0 && bytes[10] === 0x5e && bytes[11] === 0xfe;

/**
 * The IPv4 addresses that an IPv6 address contains, in every known form. A host or a gateway can deliver packets there.
 * A prefix whose length is unknown gives several; those of 0.0.0.0/8 are left out if there are others.
 */
export function embeddedAddresses(bytes: Uint8Array): Uint8Array[] {
  if (bytes.length !== 16 || isIn(PLAIN, bytes)) return [];
  const found = FORMS.filter(({ ranges }) => isIn(ranges, bytes)).flatMap(({ places, isInverted }) => {
    const read = places.map((place) => Uint8Array.from(place, (at) => (bytes[at] ?? 0) ^ (isInverted ? 0xff : 0)));
    const likely = read.filter(([first]) => first !== 0);
    return likely.length > 0 ? likely : read.slice(-1);
  });
  if (isIsatap(bytes)) found.push(bytes.slice(12));
  return found;
}
