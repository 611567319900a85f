const MAX_TEXT = "ffff:ffff:ffff:ffff:ffff:ffff:255.255.255.255".length;
const MAX_PART = 4;
const ZERO = 0x30;

/** Parses an IP address into 4 or 16 bytes. Undefined if the text is not an address. */
export function parseAddress(text: string): Uint8Array | undefined {
  if (text.length > MAX_TEXT) return undefined;
  return text.includes(":") ? parseIPv6(text) : parseIPv4(text);
}

function parseIPv4(text: string): Uint8Array | undefined {
  const bytes = new Uint8Array(4);
  let start = 0;
  for (let part = 0; part < 4; part++) {
    const dot = part < 3 ? text.indexOf(".", start) : text.length;
    const value = byteIn(text, start, dot);
    if (value > 255) return undefined;
    bytes[part] = value;
    start = dot + 1;
  }
  return bytes;
}

/** The value of a decimal part without leading zeros. 256 if it is too large or malformed. */
function byteIn(text: string, start: number, end: number): number {
  if (end <= start || end > start + 3 || (text[start] === "0" && end > start + 1)) return 256;
  let value = 0;
  for (let at = start; at < end; at++) {
    const digit = text.charCodeAt(at) - ZERO;
    if (digit < 0 || digit > 9) return 256;
    value = value * 10 + digit;
  }
  return value;
}

function parseIPv6(text: string): Uint8Array | undefined {
  const dot = text.lastIndexOf(":") + 1;
  const embedded = text.includes(".") ? parseIPv4(text.slice(dot)) : undefined;
  if (text.includes(".") && embedded === undefined) return undefined;
  const plain = embedded ? `${text.slice(0, dot)}${hexWords(embedded).join(":")}` : text;
  const halves = plain.split("::");
  if (halves.length > 2) return undefined;
  const [front = [], back = []] = halves.map((half) => (half === "" ? [] : half.split(":")));
  const missing = 8 - front.length - back.length;
  if (halves.length === 1 ? missing !== 0 : missing < 1) return undefined;
  const words = [...front, ...Array<string>(missing).fill("0"), ...back];
  if (!words.every((word) => /^[0-9a-f]{1,4}$/i.test(word))) return undefined;
  return Uint8Array.from(words.flatMap((word) => [Number.parseInt(word, 16) >> 8, Number.parseInt(word, 16) & 0xff]));
}

/** Whether the host of a URL or Host header, without port, is the loopback interface: localhost, 127.0.0.0/8 or [::1]. */
export function isLoopbackHost(host: string): boolean {
  if (/^localhost$/i.test(host) || host === "[::1]") return true;
  return parseIPv4(host)?.[0] === 127;
}

/**
 * Parses an IP address whose parts may have any number of leading zeros, like `ParseIPSloppy`. Undefined if the text is
 * not an address.
 */
export function parseLooseAddress(text: string): Uint8Array | undefined {
  return parseAddress(text) ?? parseAddress(withoutLeadingZeros(text));
}

/** Removes the leading zeros of all parts. Empty if a part is too long for any address. */
function withoutLeadingZeros(text: string): string {
  let kept = "";
  for (let at = 0; at < text.length && kept.length <= MAX_TEXT; at++) {
    const start = at;
    while (text[at] === "0") at++;
    const digits = at;
    while (at < text.length && text[at] !== "." && text[at] !== ":") {
      if (at - digits === MAX_PART) return "";
      at++;
    }
    kept += digits > start && at === digits ? "0" : text.slice(digits, at);
    kept += text.charAt(at);
  }
  return kept;
}

/** Whether a 16-byte address is an IPv4-mapped IPv6 address. */
export function isMapped(bytes: Uint8Array): boolean {
  return (
    bytes.length === 16 && bytes.subarray(0, 10).every((byte) => byte === 0) && bytes[10] === 255 && bytes[11] === 255
  );
}

/** Whether an address is IPv4, possibly IPv4-mapped. */
export function isIPv4(bytes: Uint8Array): boolean {
  return bytes.length === 4 || isMapped(bytes);
}

function hexWords(bytes: Uint8Array): string[] {
  const words: string[] = [];
  for (let at = 0; at < bytes.length; at += 2)
    words.push((((bytes[at] ?? 0) << 8) | (bytes[at + 1] ?? 0)).toString(16));
  return words;
}

/** The canonical text of an address of 4 or 16 bytes. */
export function printAddress(bytes: Uint8Array): string {
  if (bytes.length === 4) return bytes.join(".");
  // The URL parser produces the canonical short form.
  return new URL(`http://[${hexWords(bytes).join(":")}]`).hostname.slice(1, -1);
}

/** The first usable address of a range: 10.96.0.1 for "10.96.0.0/16". Undefined if the range is malformed. */
export function firstAddress(range: string): string | undefined {
  const [network = "", length] = range.split("/");
  const bytes = parseAddress(network);
  if (bytes === undefined || length === undefined) return undefined;
  const bits = Number(length);
  const masked = bytes.map((byte, index) => byte & (0xff << Math.min(8, Math.max(0, 8 * (index + 1) - bits))));
  masked[masked.length - 1] = (masked.at(-1) ?? 0) + 1;
  return printAddress(masked);
}
