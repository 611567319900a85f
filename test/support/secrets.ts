/** Part of every Secret value that tests send, so that it is found wherever it turns up. */
export const SECRET_MARK = "kept-to-itself";

/** Finds values that nobody may tell in what a server wrote: as they are, in base64, encoded for URLs or in hexadecimal. */
export class SecretSearch {
  /** What to look for, and the name to tell of it: a report must not repeat the value. */
  readonly #forms = new Map<string, string>();
  #longest = 0;
  #tail = "";
  readonly #found = new Set<string>();

  /** Looks for a value from now on. It must be long enough not to turn up by chance. */
  add(name: string, value: string): void {
    if (value.length < 8) throw new Error(`${name} is too short to look for`);
    for (const form of formsOf(value)) {
      this.#forms.set(form, name);
      this.#longest = Math.max(this.#longest, form.length);
    }
  }

  /** Takes the next piece of a text, of which the last pieces are remembered as far as a value may reach into this one. */
  read(piece: string): void {
    const text = this.#tail + piece;
    for (const name of this.in(text)) this.#found.add(name);
    this.#tail = text.slice(-this.#longest);
  }

  /** The names of all that was found in what was read. */
  get found(): string[] {
    return [...this.#found];
  }

  /** The names of what stands in a text. */
  in(text: string): string[] {
    return [...this.#forms].filter(([form]) => text.includes(form)).map(([, name]) => name);
  }
}

/** A value in all forms. In base64 it has three, by where it stands in what was encoded; each without the letters that depend on what is next to it. */
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
