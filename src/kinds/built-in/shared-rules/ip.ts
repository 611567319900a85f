import { type FieldError, invalidField } from "../../../base/api/field-error.ts";
import { quote } from "../../../base/go/quote.ts";
import { isIPv4, isMapped, parseAddress, parseLooseAddress, printAddress } from "../../../base/net/ip-address.ts";
import { addAll } from "../../../base/util/add-all.ts";

const NOT_AN_ADDRESS = "must be a valid IP address, (e.g. 10.9.8.7 or 2001:db8::ffff)";

/** Validates an IP. Texts in `accepted` are always valid. Upstream: `IsValidIPForLegacyField`. */
export function pushAddressErrors(
  errors: FieldError[],
  path: string,
  text: string,
  accepted?: ReadonlySet<string>,
): void {
  if (accepted?.has(text)) return;
  const bytes = parseLooseAddress(text);
  if (bytes === undefined) errors.push(invalidField(path, text, NOT_AN_ADDRESS));
  else if (parseAddress(text) === undefined) errors.push(invalidField(path, text, "must not have leading 0s"));
  else if (isMapped(bytes)) errors.push(invalidField(path, text, "must not be an IPv4-mapped IPv6 address"));
}

/** The warning about an IP that is accepted, but not in canonical form. Upstream: `GetWarningsForIP`. */
export function addressWarnings(path: string, text: string): string[] {
  const bytes = parseLooseAddress(text);
  if (bytes === undefined) return [];
  const strict = parseAddress(text);
  if (strict === undefined || isMapped(strict)) {
    const shown = printAddress(isMapped(bytes) ? bytes.subarray(12) : bytes);
    return [`${path}: non-standard IP address ${quote(text)} is invalid: use ${quote(shown)}`];
  }
  if (strict.length === 4 || printAddress(strict) === text) return [];
  const canonical = quote(printAddress(strict));
  return [`${path}: IPv6 address ${quote(text)} should be in RFC 5952 canonical format (${canonical})`];
}

/** Whether a list of IPs is dual-stack. Undefined if any entry is not an IP address. */
export function hasBothFamilies(texts: readonly string[]): boolean | undefined {
  const parsed = texts.map(parseLooseAddress);
  if (parsed.includes(undefined)) return undefined;
  const ipv4 = parsed.filter((bytes) => bytes !== undefined && isIPv4(bytes)).length;
  return ipv4 > 0 && ipv4 < texts.length;
}

/** Validates an IP that must be in canonical form. Upstream: `IsValidIP`. */
export function pushCanonicalAddressErrors(errors: FieldError[], path: string, text: string): void {
  const own: FieldError[] = [];
  pushAddressErrors(own, path, text);
  const bytes = own.length === 0 ? parseAddress(text) : undefined;
  if (bytes && printAddress(bytes) !== text) {
    own.push(invalidField(path, text, `must be in canonical form (${quote(printAddress(bytes))})`));
  }
  addAll(errors, own);
}
