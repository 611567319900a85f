const DECODER = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true });

/**
 * Decodes a header value as UTF-8, like Go does. Node returns one character per byte. Undefined if the bytes are not
 * UTF-8.
 */
export function headerText(value: string): string | undefined {
  if (/^[\0-\x7f]*$/.test(value)) return value;
  try {
    return DECODER.decode(Buffer.from(value, "latin1"));
  } catch {
    return undefined;
  }
}
