/** What a reviver learns about a value. Node 24 has it, the type definitions do not. */
export type Reviver = (key: string, value: never, context: { source?: string }) => unknown;

type Parsed = ReturnType<typeof JSON.parse>;

/**
 * V8 mixes up member names (nodejs/node#63785). JSON.parse guesses the next name from objects of the same shape and compares
 * the guess with the text before it resolves escapes. So a guess that contains a backslash can match a name that does not:
 * after `{"a":1,"\\":1}` it reads the name `\n` of `{"a":1,"\n":1}` as a backslash. A body of one client could change the
 * objects of another. Where V8 is not affected, none of this file's checks run.
 */
const isAffected = hasNameBug();
/** An object with a backslash in a member name has existed, so V8 may guess such a name from now on. */
let mayGuessWrong = false;

function hasNameBug(): boolean {
  // The first name keeps the guess away from the objects of clients.
  JSON.parse('{"binnacle probe":1,"\\\\":1}');
  return !Object.keys(JSON.parse('{"binnacle probe":1,"\\n":1}') as object).includes("\n");
}

/** JSON.parse with the right member names, whatever was parsed before. */
export function parseJsonText(text: string, reviver?: Reviver): Parsed {
  if (!isAffected || !text.includes("\\")) return parse(text, reviver);
  const value = parse(text, undefined);
  if (!mayGuessWrong && BACKSLASH.test(text)) noteNames(value);
  if (mayGuessWrong) return new SlowParser(text, reviver).parse();
  return reviver ? parse(text, reviver) : value;
}

function parse(text: string, reviver: Reviver | undefined): Parsed {
  return JSON.parse(text, reviver as Parameters<typeof JSON.parse>[1]);
}

/** Call it for values that were not parsed as JSON but come from clients: their names may become guesses, too. */
export function noteNames(value: unknown): void {
  if (isAffected && !mayGuessWrong) mayGuessWrong = hasBackslashName(value);
}

/** The same for a single name. */
export function noteName(name: string): void {
  if (isAffected && !mayGuessWrong) mayGuessWrong = name.includes("\\");
}

/** An escaped backslash, which may be a part of a name. */
const BACKSLASH = /\\\\|\\u005c/i;

function hasBackslashName(value: unknown): boolean {
  if (typeof value !== "object" || value === null) return false;
  if (Array.isArray(value)) return value.some(hasBackslashName);
  return Object.entries(value).some(([name, member]) => name.includes("\\") || hasBackslashName(member));
}

const NUMBER = /-?\d+(?:\.\d+)?(?:[eE][+-]?\d+)?/y;
const STRING = /"(?:[^"\\]|\\.)*"/y;
const SPACE = /[ \t\r\n]*/y;
const LITERALS: readonly (readonly [text: string, value: boolean | null])[] = [
  ["true", true],
  ["false", false],
  ["null", null],
];

/** Parses text that JSON.parse has accepted. It makes no guesses, and takes several times as long. */
class SlowParser {
  readonly #text: string;
  readonly #reviver: Reviver | undefined;
  #at = 0;

  constructor(text: string, reviver: Reviver | undefined) {
    this.#text = text;
    this.#reviver = reviver;
  }

  parse(): Parsed {
    return this.#value("");
  }

  #value(name: string): unknown {
    this.#take(SPACE);
    const source = this.#text[this.#at];
    if (source === "{") return this.#revive(name, this.#object());
    if (source === "[") return this.#revive(name, this.#array());
    const { text, value } = this.#scalar(source);
    return this.#revive(name, value, text);
  }

  #revive(name: string, value: unknown, source?: string): unknown {
    return this.#reviver ? this.#reviver(name, value as never, source === undefined ? {} : { source }) : value;
  }

  #scalar(first: string | undefined): { text: string; value: unknown } {
    if (first === '"') {
      const text = this.#take(STRING);
      return { text, value: JSON.parse(text) };
    }
    for (const [text, value] of LITERALS) {
      if (!this.#text.startsWith(text, this.#at)) continue;
      this.#at += text.length;
      return { text, value };
    }
    const text = this.#take(NUMBER);
    return { text, value: Number(text) };
  }

  #object(): object {
    const object = {};
    this.#each("}", () => {
      const name: string = JSON.parse(this.#take(STRING));
      this.#take(SPACE);
      this.#at++;
      const value = this.#value(name);
      // An assignment to `__proto__` would not make a member.
      Object.defineProperty(object, name, { value, enumerable: true, writable: true, configurable: true });
    });
    return object;
  }

  #array(): unknown[] {
    const list: unknown[] = [];
    this.#each("]", () => list.push(this.#value(String(list.length))));
    return list;
  }

  /** Reads the entries between the bracket at the current position and `end`. */
  #each(end: string, read: () => void): void {
    do {
      this.#at++;
      this.#take(SPACE);
      if (this.#text[this.#at] === end) break;
      read();
      this.#take(SPACE);
    } while (this.#text[this.#at] === ",");
    this.#at++;
  }

  #take(pattern: RegExp): string {
    pattern.lastIndex = this.#at;
    const [found = ""] = pattern.exec(this.#text) ?? [];
    this.#at += found.length;
    return found;
  }
}
