import { parseAddress } from "../../../base/net/ip-address.ts";

const SPACE = /[ \t]*/y;
const ATOM = /[!#$%&'*+\-./0-9=?A-Z^_`a-z{|}~\u0080-\u{10ffff}]+/uy;
const QUOTED = /"(?:[^"\\\p{Cc}]|\t|\\[\t -~\u0080-\u{10ffff}])*"/uy;
const LITERAL = /\[([!-Z^-~]*)\]/y;

/** Upstream: `strfmt.IsEmail`: one address of RFC 5322, with or without a name, like Go's `mail.ParseAddress`. */
export function isEmailAddress(text: string): boolean {
  return new AddressReader(text).isSingle();
}

class AddressReader {
  readonly #text: string;
  #at = 0;

  constructor(text: string) {
    this.#text = text;
  }

  isSingle(): boolean {
    this.#take(SPACE);
    const start = this.#at;
    if (!this.#takesSpecification()) {
      this.#at = start;
      if (!this.#peeks("<") && !this.#takesPhrase()) return false;
      this.#take(SPACE);
      if (!this.#takes("<") || !this.#takesSpecification() || !this.#takes(">")) return false;
    }
    return this.#takesComments() && this.#at === this.#text.length;
  }

  /** local-part "@" domain */
  #takesSpecification(): boolean {
    this.#take(SPACE);
    const local = this.#peeks('"') ? this.#take(QUOTED) : this.#dotAtom();
    if (local === undefined || local === '""' || !this.#takes("@")) return false;
    this.#take(SPACE);
    if (!this.#peeks("[")) return this.#dotAtom() !== undefined;
    const literal = this.#take(LITERAL);
    return literal !== undefined && parseAddress(literal.slice(1, -1)) !== undefined;
  }

  #dotAtom(): string | undefined {
    const atom = this.#take(ATOM);
    const isWrong = atom === undefined || atom.startsWith(".") || atom.endsWith(".") || atom.includes("..");
    return isWrong ? undefined : atom;
  }

  #takesPhrase(): boolean {
    for (let words = 0; ; words++) {
      if (words > 0 && !this.#takesComments()) return false;
      this.#take(SPACE);
      const word = this.#peeks('"') ? this.#take(QUOTED) : this.#take(ATOM);
      if (word === undefined) return words > 0;
    }
  }

  /** Returns false if a comment is not closed. */
  #takesComments(): boolean {
    this.#take(SPACE);
    while (this.#takes("(")) {
      let depth = 1;
      for (; depth > 0 && this.#at < this.#text.length; this.#at++) {
        const character = this.#text[this.#at];
        if (character === "\\") this.#at++;
        else if (character === "(") depth++;
        else if (character === ")") depth--;
      }
      if (depth > 0) return false;
      this.#take(SPACE);
    }
    return true;
  }

  #peeks(character: string): boolean {
    return this.#text[this.#at] === character;
  }

  #takes(character: string): boolean {
    if (!this.#peeks(character)) return false;
    this.#at++;
    return true;
  }

  #take(expression: RegExp): string | undefined {
    expression.lastIndex = this.#at;
    const [found] = expression.exec(this.#text) ?? [];
    if (found !== undefined) this.#at += found.length;
    return found;
  }
}
