import { type FieldError, invalidField } from "../../../base/api/field-error.ts";
import { quote } from "../../../base/go/quote.ts";
import { isIPv4, isMapped, parseAddress, parseLooseAddress, printAddress } from "../../../base/net/ip-address.ts";
import { addressNumber, parseRange, printRange, rangeAround } from "../../../base/net/ip-range.ts";
import { addAll } from "../../../base/util/add-all.ts";

interface LooseRange {
  readonly address: Uint8Array;
  readonly bits: number;
}

/**
 * Parses a CIDR like `ParseCIDRSloppy`: numbers may have leading zeros, and host bits may be set. Undefined if it is
 * not a CIDR.
 */
export function parseLooseRange(text: string): LooseRange | undefined {
  const slash = text.indexOf("/");
  const length = text.slice(slash + 1);
  const address = slash < 0 ? undefined : parseLooseAddress(text.slice(0, slash));
  if (address === undefined || !/^[0-9]+$/.test(length)) return undefined;
  const bits = Number(length);
  return bits > 8 * address.length ? undefined : { address, bits };
}

/** Validates a CIDR. Texts in `accepted` are always valid. Upstream: `IsValidCIDRForLegacyField`. */
export function pushRangeErrors(
  errors: FieldError[],
  path: string,
  text: string,
  accepted?: ReadonlySet<string>,
): void {
  if (accepted?.has(text)) return;
  const loose = parseLooseRange(text);
  const strict = parseRange(text);
  const problem = (detail: string) => errors.push(invalidField(path, text, detail));
  if (loose === undefined) problem("must be a valid CIDR value, (e.g. 10.9.8.0/24 or 2001:db8::/64)");
  else if (strict === undefined) problem("must not have leading 0s in IP or prefix length");
  else if (isMapped(loose.address)) problem("must not have an IPv4-mapped IPv6 address");
  else if (strict.lowest !== addressNumber(loose.address)) problem("must not have bits set beyond the prefix length");
}

/** Validates a CIDR that must be in canonical form. Upstream: `IsValidCIDR`. */
export function pushCanonicalRangeErrors(errors: FieldError[], path: string, text: string): void {
  const own: FieldError[] = [];
  pushRangeErrors(own, path, text);
  const range = own.length === 0 ? parseRange(text) : undefined;
  if (range && printRange(range) !== text) {
    own.push(invalidField(path, text, `must be in canonical form (${quote(printRange(range))})`));
  }
  addAll(errors, own);
}

/** Warnings about a CIDR that is accepted, but not in canonical form. Upstream: `GetWarningsForCIDR`. */
export function rangeWarnings(path: string, text: string): string[] {
  const loose = parseLooseRange(text);
  if (loose === undefined) return [];
  const { address, bits } = loose;
  const range = rangeAround(address, bits);
  const warnings: string[] = [];
  if (range.lowest !== addressNumber(address)) {
    const single = `${printAddress(address)}/${8 * address.length}`;
    const choice = `${quote(printRange(range))} or ${quote(single)}`;
    warnings.push(`${path}: CIDR value ${quote(text)} is ambiguous in this context (should be ${choice}?)`);
  }
  const strict = parseRange(text);
  if (strict === undefined || isMapped(address)) {
    warnings.push(`${path}: non-standard CIDR value ${quote(text)} is invalid: use ${quote(printRange(range))}`);
  }
  const canonical = `${printAddress(address)}/${bits}`;
  if (warnings.length === 0 && address.length === 16 && canonical !== text) {
    const wanted = quote(canonical);
    warnings.push(`${path}: IPv6 CIDR value ${quote(text)} should be in RFC 5952 canonical format (${wanted})`);
  }
  return warnings;
}

/** Whether a list of CIDRs is dual-stack; undefined if one of them is not a CIDR. */
export function haveBothRangeFamilies(texts: readonly string[]): boolean | undefined {
  const ranges = texts.map(parseLooseRange);
  if (ranges.includes(undefined)) return undefined;
  const ipv4 = ranges.filter((range) => range !== undefined && isIPv4(range.address)).length;
  return ipv4 > 0 && ipv4 < texts.length;
}

interface Network {
  readonly bytes: Uint8Array;
  readonly bits: number;
}

const SPECIAL: readonly (readonly [ranges: readonly Network[], text: string])[] = [
  [networks("127.0.0.0/8", "::1/128"), "may not be in the loopback range (127.0.0.0/8, ::1/128)"],
  [networks("169.254.0.0/16", "fe80::/10"), "may not be in the link-local range (169.254.0.0/16, fe80::/10)"],
  [networks("224.0.0.0/24", "ff02::/16"), "may not be in the link-local multicast range (224.0.0.0/24, ff02::/10)"],
];

/** Rejects IPs that no endpoint can have: unspecified, loopback, link-local. Upstream: `ValidateEndpointIP`. */
export function pushEndpointAddressErrors(errors: FieldError[], path: string, text: string): void {
  const parsed = parseLooseAddress(text);
  if (parsed === undefined) {
    errors.push(invalidField(path, text, "must be a valid IP address"));
    return;
  }
  const address = isMapped(parsed) ? parsed.subarray(12) : parsed;
  if (address.every((byte) => byte === 0)) errors.push(invalidField(path, text, `may not be unspecified (${text})`));
  for (const [ranges, detail] of SPECIAL) {
    if (ranges.some((range) => contains(range, address))) errors.push(invalidField(path, text, detail));
  }
}

function networks(...ranges: readonly string[]): Network[] {
  return ranges.map((range) => {
    const [network = "", bits] = range.split("/");
    return { bytes: parseAddress(network) ?? new Uint8Array(), bits: Number(bits) };
  });
}

function contains({ bytes, bits }: Network, address: Uint8Array): boolean {
  if (bytes.length !== address.length) return false;
  return bytes.every((byte, index) => {
    const mask = (0xff << Math.min(8, Math.max(0, 8 * (index + 1) - bits))) & 0xff;
    return byte === ((address[index] ?? 0) & mask);
  });
}
