import { quote } from "./quote.ts";

/** An error of Go's netip package. */
export class AddressError extends Error {}

/** An address of 4 or 16 bytes. CEL expressions do not accept a zone. */
export interface Address {
  readonly bytes: Uint8Array;
  readonly zone: string;
}

function refuse(text: string, message: string, at = ""): never {
  throw new AddressError(`ParseAddr(${quote(text)}): ${message}${at === "" ? "" : ` (at ${quote(at)})`}`);
}

/** Parses an address like Go's netip.ParseAddr. Throws AddressError. */
export function parseAddr(text: string): Address {
  for (const char of text) {
    if (char === ".") return { bytes: parseIPv4(text, text), zone: "" };
    if (char === ":") return parseIPv6(text);
    if (char === "%") refuse(text, "missing IPv6 address");
  }
  return refuse(text, "unable to parse IP");
}

function parseIPv4(whole: string, text: string): Uint8Array {
  const fields = new Uint8Array(4);
  let value = 0;
  let position = 0;
  let digits = 0;
  for (let i = 0; i < text.length; i++) {
    const char = text[i] as string;
    if (char >= "0" && char <= "9") {
      if (digits === 1 && value === 0) refuse(whole, "IPv4 field has octet with leading zero");
      value = value * 10 + Number(char);
      digits++;
      if (value > 255) refuse(whole, "IPv4 field has value >255");
    } else if (char === ".") {
      if (i === 0 || i === text.length - 1 || text[i - 1] === ".") {
        refuse(whole, "IPv4 field must have at least one digit", text.slice(i));
      }
      if (position === 3) refuse(whole, "IPv4 address too long");
      fields[position++] = value;
      value = 0;
      digits = 0;
    } else refuse(whole, "unexpected character", text.slice(i));
  }
  if (position < 3) refuse(whole, "IPv4 address too short");
  fields[3] = value;
  return fields;
}

/** Parses the hexadecimal number at the start of a text. Returns its value and number of digits. */
function hexNumber(whole: string, text: string): [value: number, digits: number] {
  let value = 0;
  let digits = 0;
  for (; digits < text.length; digits++) {
    const digit = "0123456789abcdef".indexOf((text[digits] as string).toLowerCase());
    if (digit < 0) break;
    if (digits > 3) refuse(whole, "each group must have 4 or less digits", text);
    value = value * 16 + digit;
  }
  if (digits === 0) refuse(whole, "each colon-separated field must have at least one digit", text);
  return [value, digits];
}

function parseIPv6(whole: string): Address {
  const percent = whole.indexOf("%");
  let text = percent < 0 ? whole : whole.slice(0, percent);
  const zone = percent < 0 ? "" : whole.slice(percent + 1);
  if (percent >= 0 && zone === "") refuse(whole, "zone must be a non-empty string");
  const bytes = new Uint8Array(16);
  let ellipsis = -1;
  let count = 0;
  if (text.startsWith("::")) {
    ellipsis = 0;
    text = text.slice(2);
    if (text === "") return { bytes, zone };
  }
  while (count < 16) {
    const [value, digits] = hexNumber(whole, text);
    if (text[digits] === ".") {
      const message = "embedded IPv4 address must replace the final 2 fields of the address";
      if (ellipsis < 0 && count !== 12) refuse(whole, message, text);
      if (count + 4 > 16) {
        refuse(whole, "too many hex fields to fit an embedded IPv4 at the end of the address", text);
      }
      bytes.set(parseIPv4(whole, text), count);
      text = "";
      count += 4;
      break;
    }
    bytes[count++] = value >> 8;
    bytes[count++] = value & 255;
    text = text.slice(digits);
    if (text === "") break;
    if (text[0] !== ":") refuse(whole, "unexpected character, want colon", text);
    if (text.length === 1) refuse(whole, "colon must be followed by more characters", text);
    text = text.slice(1);
    if (text[0] === ":") {
      if (ellipsis >= 0) refuse(whole, "multiple :: in address", text);
      ellipsis = count;
      text = text.slice(1);
      if (text === "") break;
    }
  }
  if (text !== "") refuse(whole, "trailing garbage after address", text);
  if (count < 16) {
    if (ellipsis < 0) refuse(whole, "address string too short");
    bytes.copyWithin(16 - (count - ellipsis), ellipsis, count);
    bytes.fill(0, ellipsis, 16 - (count - ellipsis));
  } else if (ellipsis >= 0) refuse(whole, "the :: must expand to at least one field of zeros");
  return { bytes, zone };
}

/** Parses a prefix such as 10.0.0.0/8 like Go's netip.ParsePrefix. Throws AddressError. */
export function parsePrefix(text: string): { readonly bytes: Uint8Array; readonly bits: number } {
  const fail = (message: string): never => {
    throw new AddressError(`netip.ParsePrefix(${quote(text)}): ${message}`);
  };
  const slash = text.lastIndexOf("/");
  if (slash < 0) fail("no '/'");
  let address: Address;
  try {
    address = parseAddr(text.slice(0, slash));
  } catch (error) {
    if (!(error instanceof AddressError)) throw error;
    return fail(error.message);
  }
  if (address.zone !== "") fail("IPv6 zones cannot be present in a prefix");
  const digits = text.slice(slash + 1);
  if (!/^(?:0|[1-9][0-9]*)$/.test(digits)) fail(`bad bits after slash: ${quote(digits)}`);
  if (digits.length > 18) fail(`bad bits after slash: ${quote(digits)}`);
  const bits = Number(digits);
  if (bits > address.bytes.length * 8) fail("prefix length out of range");
  return { bytes: address.bytes, bits };
}
