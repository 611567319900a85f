const PLAIN = /^[ !#-[\]-~]*$/;
/** The characters with a one-letter escape in Go and in CEL's strings.quote(). */
export const NAMED_ESCAPES: ReadonlyMap<string, string> = new Map([
  ["\\", "\\\\"],
  ['"', '\\"'],
  ["\u0007", "\\a"],
  ["\b", "\\b"],
  ["\t", "\\t"],
  ["\n", "\\n"],
  ["\v", "\\v"],
  ["\f", "\\f"],
  ["\r", "\\r"],
]);
/** Escapes of ASCII characters by code. "" if the character is not escaped. */
const ESCAPES: readonly string[] = Array.from({ length: 0x80 }, (_, code) => {
  const isControl = code < 0x20 || code === 0x7f;
  const plain = isControl ? `\\x${code.toString(16).padStart(2, "0")}` : "";
  return NAMED_ESCAPES.get(String.fromCharCode(code)) ?? plain;
});
const ASCII = /^[\0-\x7f]*$/;
/** Characters above ASCII that are not printable according to Go's `strconv.IsPrint`. */
const UNPRINTABLE = /[^\P{C}\p{Cs}\0-\x7f]|[^\P{Z} ]/gu;

/** Quotes a string like Go's %q: `strconv.Quote`. */
export function quote(text: string): string {
  if (PLAIN.test(text)) return `"${text}"`;
  const escaped = escapeAscii(text);
  return `"${ASCII.test(text) ? escaped : escaped.replace(UNPRINTABLE, escapeRune)}"`;
}

/** Uses a buffer: String.replace with a million matches would take seconds. */
function escapeAscii(text: string): string {
  let size = 0;
  for (let at = 0; at < text.length; at += 1) size += ESCAPES[text.charCodeAt(at)]?.length || 1;
  if (size === text.length) return text;
  const out = new Uint16Array(size);
  for (let at = 0, to = 0; at < text.length; at += 1) {
    const code = text.charCodeAt(at);
    const escaped = ESCAPES[code];
    if (!escaped) out[to++] = code;
    else for (let index = 0; index < escaped.length; index += 1) out[to++] = escaped.charCodeAt(index);
  }
  return Buffer.from(out.buffer).toString("utf16le");
}

function escapeRune(rune: string): string {
  const code = rune.codePointAt(0) ?? 0;
  return code > 0xffff ? `\\U${code.toString(16).padStart(8, "0")}` : `\\u${code.toString(16).padStart(4, "0")}`;
}
