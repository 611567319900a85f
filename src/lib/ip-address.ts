const MAX_TEXT = "ffff:ffff:ffff:ffff:ffff:ffff:255.255.255.255".length;
const MAX_PART = 4;
const ZERO = 0x30;

/** The 4 or 16 bytes of an address. Undefined when the text is no address. */
export function parseAddress(text: string): Uint8Array | undefined {
  if (text.length > MAX_TEXT) return undefined;
  return text.includes(":") ? parseLong(text) : parseShort(text);
}

function parseShort(text: string): Uint8Array | undefined {
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

/** The number that the digits of a part are, without leading zeros; 256 when it is too large or none. */
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

function parseLong(text: string): Uint8Array | undefined {
  const dot = text.lastIndexOf(":") + 1;
  const embedded = text.includes(".") ? parseShort(text.slice(dot)) : undefined;
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

/**
 * An IP whose parts, decimal or hexadecimal, may have any number of leading zeros, as `ParseIPSloppy` takes it; undefined
 * when it is none.
 */
export function parseLooseAddress(text: string): Uint8Array | undefined {
  return parseAddress(text) ?? parseAddress(withoutLeadingZeros(text));
}

/** The text without the leading zeros of its parts; the empty text as soon as a part is too long for any address. */
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

/** Whether an address of 16 bytes is an IPv4-mapped IPv6 address. */
export function isMapped(bytes: Uint8Array): boolean {
  return (
    bytes.length === 16 && bytes.subarray(0, 10).every((byte) => byte === 0) && bytes[10] === 255 && bytes[11] === 255
  );
}

/** Whether an address is IPv4, written in either way. */
export function isShortAddress(bytes: Uint8Array): boolean {
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
  // The URL parser knows the canonical short form.
  return new URL(`http://[${hexWords(bytes).join(":")}]`).hostname.slice(1, -1);
}

/** The first address of a range such as "10.96.0.0/16" that can be given to anybody: 10.96.0.1. */
export function firstAddress(range: string): string | undefined {
  const [network = "", length] = range.split("/");
  const bytes = parseAddress(network);
  if (bytes === undefined || length === undefined) return undefined;
  const bits = Number(length);
  const masked = bytes.map((byte, index) => byte & (0xff << Math.min(8, Math.max(0, 8 * (index + 1) - bits))));
  masked[masked.length - 1] = (masked.at(-1) ?? 0) + 1;
  return printAddress(masked);
}
