const DECODER = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true });

/**
 * The text of a header value. Node gives one character per byte; Go, and so everything that Kubernetes' clients send,
 * takes the bytes for UTF-8. Undefined when they are not.
 */
export function headerText(value: string): string | undefined {
  if (/^[\0-\x7f]*$/.test(value)) return value;
  try {
    return DECODER.decode(Buffer.from(value, "latin1"));
  } catch {
    return undefined;
  }
}
