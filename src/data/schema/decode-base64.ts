/** The text is not base64. The message is that of kube-apiserver. */
export class Base64Error extends Error {
  constructor(position: number) {
    super(`illegal base64 data at input byte ${position}`);
    this.name = "Base64Error";
  }
}

/** Canonical base64: without line ends, padded, unused bits zero. Throws Base64Error. */
export function canonicalBase64(text: string): string {
  const canonical = Buffer.from(text, "base64").toString("base64");
  if (canonical === text) return text;
  const problem = base64Problem(text, "standard");
  if (problem !== undefined) throw problem;
  return canonical;
}

/** The error of a text that is not base64 in the given alphabet. Undefined if it is valid. */
export function base64Problem(text: string, alphabet: "standard" | "url"): Base64Error | undefined {
  try {
    check(text, alphabet === "url" ? URL_ALPHABET : ALPHABET);
    return undefined;
  } catch (error) {
    if (!(error instanceof Base64Error)) throw error;
    return error;
  }
}

const DIGITS = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789";
const ALPHABET: ReadonlySet<string> = new Set(`${DIGITS}+/`);
const URL_ALPHABET: ReadonlySet<string> = new Set(`${DIGITS}-_`);
const isLineEnd = (character: string | undefined): boolean => character === "\n" || character === "\r";

/** Throws at the position where Go's decoder stops. */
function check(text: string, alphabet: ReadonlySet<string>): void {
  // Number of characters in the current group of four.
  let group = 0;
  for (let i = 0; i < text.length; i++) {
    const character = text[i] ?? "";
    if (isLineEnd(character)) continue;
    if (character === "=") {
      checkPadding(text, i, group);
      return;
    }
    if (!alphabet.has(character)) throw new Base64Error(i);
    group = (group + 1) % 4;
  }
  if (group !== 0) throw new Base64Error(Buffer.byteLength(text) - group);
}

function checkPadding(text: string, start: number, group: number): void {
  if (group < 2) throw new Base64Error(start);
  let next = start + 1;
  const skip = () => {
    while (isLineEnd(text[next])) next++;
  };
  if (group === 2) {
    skip();
    if (next === text.length) throw new Base64Error(next);
    if (text[next] !== "=") throw new Base64Error(next);
    next++;
  }
  skip();
  if (next < text.length) throw new Base64Error(next);
}
