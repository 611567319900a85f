import { type FieldError, invalidField } from "../../api/field-error.ts";
import { addAll } from "../../lib/add-all.ts";
import { quote } from "../../lib/go/quote.ts";
import { isMapped, isShortAddress, parseAddress, parseLooseAddress, printAddress } from "../../lib/ip-address.ts";

const NOT_AN_ADDRESS = "must be a valid IP address, (e.g. 10.9.8.7 or 2001:db8::ffff)";

/** Validates an IP. Texts in `accepted` are fine whatever they are. Upstream: `IsValidIPForLegacyField`. */
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

/** The warning about an IP that is taken, but not in canonical form. Upstream: `GetWarningsForIP`. */
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

/** Whether a list of IPs is dual-stack. An IP that is none counts as an error. */
export function hasBothFamilies(texts: readonly string[]): boolean | undefined {
  const parsed = texts.map(parseLooseAddress);
  if (parsed.includes(undefined)) return undefined;
  const short = parsed.filter((bytes) => bytes !== undefined && isShortAddress(bytes)).length;
  return short > 0 && short < texts.length;
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
