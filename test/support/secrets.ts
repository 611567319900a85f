/** Part of every Secret value that tests send, so that leaks can be found. */
export const SECRET_MARK = "kept-to-itself";

/** Finds secret values in the output of a server: plain, in base64, URL-encoded or in hexadecimal. */
export class SecretSearch {
  /** Texts to search for, and the name to report: reports must not repeat the value. */
  readonly #forms = new Map<string, string>();
  #longest = 0;
  #tail = "";
  readonly #found = new Set<string>();

  /** Adds a value to search for. It must be long enough not to occur at random. */
  add(name: string, value: string): void {
    if (value.length < 8) throw new Error(`${name} is too short to look for`);
    for (const form of formsOf(value)) {
      this.#forms.set(form, name);
      this.#longest = Math.max(this.#longest, form.length);
    }
  }

  /** Reads the next chunk of a text. The end of earlier chunks is kept, so that values across chunks are found. */
  read(piece: string): void {
    const text = this.#tail + piece;
    for (const name of this.in(text)) this.#found.add(name);
    this.#tail = text.slice(-this.#longest);
  }

  /** The names of all values found so far. */
  get found(): string[] {
    return [...this.#found];
  }

  /** The names of the values in a text. */
  in(text: string): string[] {
    return [...this.#forms].filter(([form]) => text.includes(form)).map(([, name]) => name);
  }
}

/**
 * A value in all forms. Base64 has three, depending on the position in the encoded text, each without characters that
 * depend on its neighbours.
 */
function formsOf(value: string): string[] {
  const bytes = Buffer.from(value);
  const shifted = [0, 1, 2].flatMap((before) => {
    const text = Buffer.concat([Buffer.alloc(before), bytes])
      .toString("base64")
      .replaceAll("=", "");
    const from = Math.ceil((before * 8) / 6);
    const whole = text.slice(from, Math.floor(((before + bytes.length) * 8) / 6));
    return [whole, whole.replaceAll("+", "-").replaceAll("/", "_")];
  });
  const escaped = JSON.stringify(value).slice(1, -1);
  return [...new Set([value, escaped, encodeURIComponent(value), bytes.toString("hex"), ...shifted])];
}
