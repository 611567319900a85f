const QUOTE = 0x22;
const MINUS = 0x2d;
const BACKSLASH = 0x5c;
const COLON = 0x3a;
const COMMA = 0x2c;
const OPEN_BRACE = 0x7b;
const CLOSE_BRACE = 0x7d;
const OPEN_BRACKET = 0x5b;
const CLOSE_BRACKET = 0x5d;

const LITERALS: Readonly<Record<number, string>> = { 116: "true", 102: "false", 110: "null" };
const END = "unexpected end of JSON input";

class SyntaxFault extends Error {}

/**
 * The message of Go's decoder for bytes that are malformed JSON or nested too deeply. Works on bytes, because Go names
 * the wrong byte.
 */
export function explainSyntax(bytes: Uint8Array, maxDepth: number): string {
  try {
    new Explainer(bytes, maxDepth).run();
    return END;
  } catch (error) {
    if (error instanceof SyntaxFault) return error.message;
    throw error;
  }
}

/** Scans JSON iteratively, with an explicit stack, up to the first error. */
class Explainer {
  readonly #bytes: Uint8Array;
  readonly #maxDepth: number;
  /** Closing brackets of the open containers. */
  readonly #open: number[] = [];
  #at = 0;

  constructor(bytes: Uint8Array, maxDepth: number) {
    this.#bytes = bytes;
    this.#maxDepth = maxDepth;
  }

  run(): void {
    this.#value();
    while (this.#open.length > 0) this.#next();
    if (this.#skipSpace() !== undefined) throw this.#fault("after top-level value");
  }

  #next(): void {
    const closing = this.#open.at(-1);
    const isObject = closing === CLOSE_BRACE;
    const byte = this.#require();
    if (byte === closing) {
      this.#at++;
      this.#open.pop();
      return;
    }
    if (byte !== COMMA) throw this.#fault(isObject ? "after object key:value pair" : "after array element");
    this.#at++;
    if (isObject) this.#member();
    else this.#value();
  }

  #member(): void {
    if (this.#require() !== QUOTE) throw this.#fault("looking for beginning of object key string");
    this.#string();
    if (this.#require() !== COLON) throw this.#fault("after object key");
    this.#at++;
    this.#value();
  }

  #value(): void {
    const byte = this.#require();
    const literal = LITERALS[byte];
    if (byte === QUOTE) this.#string();
    else if (byte === OPEN_BRACE || byte === OPEN_BRACKET) this.#container(byte);
    else if (literal !== undefined) this.#literal(literal);
    else if (byte === MINUS || isDigit(byte)) this.#number();
    else throw this.#fault("looking for beginning of value");
  }

  #container(byte: number): void {
    if (this.#open.length >= this.#maxDepth) throw this.#fault("exceeded max depth");
    this.#at++;
    const closing = byte === OPEN_BRACE ? CLOSE_BRACE : CLOSE_BRACKET;
    this.#open.push(closing);
    if (this.#require() === closing) return;
    if (byte === OPEN_BRACE) this.#member();
    else this.#value();
  }

  #string(): void {
    for (this.#at++; ; this.#at++) {
      const byte = this.#bytes[this.#at];
      if (byte === undefined) throw new SyntaxFault(END);
      if (byte === QUOTE) break;
      if (byte < 0x20) throw this.#fault("in string literal");
      if (byte === BACKSLASH) this.#escape();
    }
    this.#at++;
  }

  #escape(): void {
    this.#at++;
    const byte = this.#bytes[this.#at] ?? 0;
    if (byte === 0x75) {
      for (let digits = 0; digits < 4; digits++) {
        this.#at++;
        if (!isHex(this.#bytes[this.#at] ?? 0)) throw this.#fault("in \\u hexadecimal character escape");
      }
    } else if (!'"\\/bfnrt'.includes(String.fromCharCode(byte))) throw this.#fault("in string escape code");
  }

  #literal(word: string): void {
    for (let index = 1; index < word.length; index++) {
      this.#at++;
      if (this.#bytes[this.#at] === word.charCodeAt(index)) continue;
      throw this.#fault(`in literal ${word} (expecting '${word[index]}')`);
    }
    this.#at++;
  }

  #number(): void {
    if (this.#bytes[this.#at] === MINUS) this.#at++;
    if (this.#bytes[this.#at] === 0x30) this.#at++;
    else this.#digits("in numeric literal");
    if (this.#bytes[this.#at] === 0x2e) {
      this.#at++;
      this.#digits("after decimal point in numeric literal");
    }
    if (this.#bytes[this.#at] === 0x65 || this.#bytes[this.#at] === 0x45) {
      this.#at++;
      if (this.#bytes[this.#at] === 0x2b || this.#bytes[this.#at] === MINUS) this.#at++;
      this.#digits("in exponent of numeric literal");
    }
  }

  #digits(where: string): void {
    if (!isDigit(this.#bytes[this.#at] ?? 0)) throw this.#fault(where);
    while (isDigit(this.#bytes[this.#at] ?? 0)) this.#at++;
  }

  #skipSpace(): number | undefined {
    for (; ; this.#at++) {
      const byte = this.#bytes[this.#at];
      if (byte !== 0x20 && byte !== 0x09 && byte !== 0x0a && byte !== 0x0d) return byte;
    }
  }

  #require(): number {
    const byte = this.#skipSpace();
    if (byte === undefined) throw new SyntaxFault(END);
    return byte;
  }

  #fault(where: string): SyntaxFault {
    // Compat: at the end of the input, `scanner.eof` of Go's encoding/json feeds itself a space.
    const byte = this.#bytes[this.#at] ?? 0x20;
    return new SyntaxFault(`invalid character ${quoteByte(byte)} ${where}`);
  }
}

function isDigit(byte: number): boolean {
  return byte >= 0x30 && byte <= 0x39;
}

function isHex(byte: number): boolean {
  return isDigit(byte) || (byte >= 0x61 && byte <= 0x66) || (byte >= 0x41 && byte <= 0x46);
}

const NAMED_BYTES: Readonly<Record<number, string>> = {
  7: "\\a",
  8: "\\b",
  9: "\\t",
  10: "\\n",
  11: "\\v",
  12: "\\f",
  13: "\\r",
  39: "\\'",
  92: "\\\\",
};

// A byte is printed as the character with that code, whatever it means in UTF-8.
function quoteByte(byte: number): string {
  const isPlain = (byte >= 0x20 && byte < 0x7f) || (byte > 0xa0 && byte !== 0xad);
  const code = byte < 0x80 ? `\\x${byte.toString(16).padStart(2, "0")}` : `\\u00${byte.toString(16)}`;
  return `'${NAMED_BYTES[byte] ?? (isPlain ? String.fromCharCode(byte) : code)}'`;
}
