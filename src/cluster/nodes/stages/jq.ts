import { isObject, type Json } from "../../../base/api/object.ts";
import { getMember } from "../../../base/util/members.ts";
import { type Meter, TooCostly } from "../../../base/util/meter.ts";
import { parseJsonText } from "../../../base/util/parse-json.ts";

/** A jq filter: the outputs for an input. Throws where jq fails, and TooCostly if the meter has too little left. */
export type Filter = (input: Json, meter: Meter) => Json[];

/** Longer and deeper expressions are not supported. Closures of operators call each other, so tokens bound the stack. */
const MAX_LENGTH = 10_000;
const MAX_DEPTH = 50;
const MAX_TOKENS = 1000;
/** Units of the meter for one output of a filter, and for characters of a text. */
const UNITS_PER_OUTPUT = 5;
const CHARACTERS_PER_UNIT = 20;

const TOKEN = /\s*("(?:\\.|[^"\\])*"|-?\d+(?:\.\d+)?|[A-Za-z_]\w*|\.[A-Za-z_]\w*|\/\/|==|!=|<=|>=|[<>|,.[\]()?])/y;

/** Compiles a filter: paths, pipes, comparisons, `//`, and some functions. Throws for anything else. */
export function compileJq(source: string): Filter {
  if (source.length > MAX_LENGTH) throw new Error(`a jq expression of ${source.length} characters is not supported`);
  const tokens: string[] = [];
  const { length } = source.trimEnd();
  for (let at = 0; at < length; at = TOKEN.lastIndex) {
    TOKEN.lastIndex = at;
    const found = TOKEN.exec(source);
    if (found === null) throw new Error(`jq expression ${source} is not supported at ${source.slice(at)}`);
    tokens.push(found[1] ?? "");
  }
  if (tokens.length > MAX_TOKENS) throw new Error(`a jq expression of ${tokens.length} tokens is not supported`);
  return new JqReader(tokens, source).all();
}

type Compare = (one: Json, other: Json, meter: Meter) => boolean;

/** Texts and numbers need not be printed. */
const isSame: Compare = (one, other, meter) =>
  typeof one === "object" && typeof other === "object" ? print(one, meter) === print(other, meter) : one === other;

const COMPARISONS: Readonly<Record<string, Compare>> = {
  "==": isSame,
  "!=": (one, other, meter) => !isSame(one, other, meter),
  "<": (one, other) => (one as number) < (other as number),
  "<=": (one, other) => (one as number) <= (other as number),
  ">": (one, other) => (one as number) > (other as number),
  ">=": (one, other) => (one as number) >= (other as number),
};

const isTrue = (value: Json) => value !== null && value !== false;

class JqReader {
  readonly #tokens: readonly string[];
  readonly #source: string;
  #at = 0;
  #depth = 0;

  constructor(tokens: readonly string[], source: string) {
    this.#tokens = tokens;
    this.#source = source;
  }

  all(): Filter {
    const filter = this.#pipe();
    if (this.#at < this.#tokens.length) throw this.#unsupported();
    return filter;
  }

  #unsupported(): Error {
    return new Error(`jq expression ${this.#source} is not supported at ${this.#tokens.slice(this.#at).join(" ")}`);
  }

  #take(token: string): boolean {
    if (this.#tokens[this.#at] !== token) return false;
    this.#at += 1;
    return true;
  }

  #expect(token: string): void {
    if (!this.#take(token)) throw this.#unsupported();
  }

  #pipe(): Filter {
    this.#depth += 1;
    if (this.#depth > MAX_DEPTH) throw this.#unsupported();
    const first = this.#comma();
    const further: Filter[] = [];
    while (this.#take("|")) further.push(this.#comma());
    this.#depth -= 1;
    return further.length === 0 ? first : piped([first, ...further]);
  }

  #comma(): Filter {
    const first = this.#alternative();
    const filters = [first];
    while (this.#take(",")) filters.push(this.#alternative());
    if (filters.length === 1) return first;
    return (input, meter) =>
      counted(
        filters.flatMap((filter) => filter(input, meter)),
        meter,
      );
  }

  #alternative(): Filter {
    const filters = [this.#or()];
    while (this.#take("//")) filters.push(this.#or());
    const last = filters.pop() as Filter;
    return filters.length === 0 ? last : alternatives(filters, last);
  }

  #or(): Filter {
    let left = this.#and();
    while (this.#take("or")) left = combine(left, this.#and(), (one, other) => isTrue(one) || isTrue(other));
    return left;
  }

  #and(): Filter {
    let left = this.#comparison();
    while (this.#take("and")) left = combine(left, this.#comparison(), (one, other) => isTrue(one) && isTrue(other));
    return left;
  }

  #comparison(): Filter {
    const left = this.#postfix();
    const compare = getMember(COMPARISONS, this.#tokens[this.#at] ?? "");
    if (compare === undefined) return left;
    this.#at += 1;
    return combine(left, this.#postfix(), compare);
  }

  #postfix(): Filter {
    let filter = this.#term();
    let suffixes = 0;
    for (;;) {
      const token = this.#tokens[this.#at] ?? "";
      const before = filter;
      if (/^\.[A-Za-z_]/.test(token)) {
        this.#at += 1;
        const name = token.slice(1);
        filter = (input, meter) => before(input, meter).map((value) => memberOf(value, name, meter));
      } else if (token === "[" || (token === "." && this.#tokens[this.#at + 1] === "[")) {
        this.#at += token === "." ? 1 : 0;
        const suffix = this.#bracket();
        filter = (input, meter) => before(input, meter).flatMap((value) => suffix(value, input, meter));
      } else if (token === "?") {
        this.#at += 1;
        filter = (input, meter) => attempt(before, input, meter);
      } else return filter;
      if (++suffixes > MAX_DEPTH) throw this.#unsupported();
    }
  }

  /** `[]`, `[0]` or `["name"]`. */
  #bracket(): (value: Json, input: Json, meter: Meter) => Json[] {
    this.#expect("[");
    if (this.#take("]")) return (value, _, meter) => itemsOf(value, meter);
    const key = this.#pipe();
    this.#expect("]");
    return (value, input, meter) => key(input, meter).map((one) => memberOf(value, one, meter));
  }

  #term(): Filter {
    const token = this.#tokens[this.#at++];
    if (token === undefined) throw this.#unsupported();
    if (token === "(") {
      const inner = this.#pipe();
      this.#expect(")");
      return inner;
    }
    if (token === ".") {
      if (this.#tokens[this.#at]?.startsWith('"')) {
        const name = parseJsonText(this.#tokens[this.#at++] ?? "") as string;
        return (input, meter) => [memberOf(input, name, meter)];
      }
      if (this.#tokens[this.#at] === "[") {
        const suffix = this.#bracket();
        return (input, meter) => suffix(input, input, meter);
      }
      return (input) => [input];
    }
    if (/^\.[A-Za-z_]/.test(token)) return (input, meter) => [memberOf(input, token.slice(1), meter)];
    if (token.startsWith('"') || /^-?\d/.test(token)) {
      const value = parseJsonText(token) as Json;
      return () => [value];
    }
    return this.#call(token);
  }

  #call(name: string): Filter {
    const args: Filter[] = [];
    if (this.#take("(")) {
      args.push(this.#pipe());
      this.#expect(")");
    }
    const [argument = () => []] = args;
    const make = getMember(FUNCTIONS, name);
    if (make === undefined) {
      this.#at -= 1;
      throw this.#unsupported();
    }
    return make(argument);
  }
}

/** Charges for outputs. */
function counted(outputs: Json[], meter: Meter): Json[] {
  meter.charge(UNITS_PER_OUTPUT * (1 + outputs.length));
  return outputs;
}

function piped(filters: readonly Filter[]): Filter {
  return (input, meter) => {
    let values = [input];
    for (const filter of filters) values = counted(flatMap(values, filter, meter), meter);
    return values;
  };
}

/** Like `flatMap` of arrays, but stops as soon as the meter is used up. */
function flatMap(values: readonly Json[], filter: Filter, meter: Meter): Json[] {
  const found: Json[] = [];
  for (const value of values) for (const one of counted(filter(value, meter), meter)) found.push(one);
  return found;
}

/** The outputs of the first filter that yields one that is true, or those of the last. */
function alternatives(filters: readonly Filter[], last: Filter): Filter {
  return (input, meter) => {
    for (const filter of filters) {
      const found = attempt(filter, input, meter).filter(isTrue);
      if (found.length > 0) return found;
    }
    return last(input, meter);
  };
}

/** Charges for a text that a value is printed or compared as. */
function print(value: Json, meter: Meter): string {
  const text = JSON.stringify(value);
  meter.charge(1 + text.length / CHARACTERS_PER_UNIT);
  return text;
}

/** Applies a function to each value that the argument yields. */
const withArgument =
  (apply: (input: Json, argument: Json) => Json) =>
  (argument: Filter): Filter =>
  (input, meter) =>
    counted(argument(input, meter), meter).map((one) => apply(input, one));

/** Applies a function to the input. */
const ofInput = (apply: (input: Json, meter: Meter) => Json) => (): Filter => (input, meter) => [apply(input, meter)];

const FUNCTIONS: Readonly<Record<string, (argument: Filter) => Filter>> = {
  true: ofInput(() => true),
  false: ofInput(() => false),
  null: ofInput(() => null),
  empty: () => () => [],
  not: ofInput((input) => !isTrue(input)),
  select: (test) => (input, meter) =>
    counted(test(input, meter), meter)
      .filter(isTrue)
      .map(() => input),
  map: (each) => (input, meter) => [flatMap(itemsOf(input, meter), each, meter)],
  length: ofInput(lengthOf),
  keys: ofInput((input, meter) => {
    const names = Object.keys(input as object);
    meter.charge(names.length * UNITS_PER_OUTPUT);
    return names.sort();
  }),
  any: (test) => (input, meter) => [flatMap(itemsOf(input, meter), test, meter).some(isTrue)],
  all: (test) => (input, meter) => [flatMap(itemsOf(input, meter), test, meter).every(isTrue)],
  has: withArgument((input, key) => Object.hasOwn(input as object, String(key))),
  startswith: withArgument((input, part) => String(input).startsWith(String(part))),
  endswith: withArgument((input, part) => String(input).endsWith(String(part))),
  tostring: ofInput((input, meter) => (typeof input === "string" ? input : print(input, meter))),
  tonumber: ofInput((input) => Number(input)),
  type: ofInput(typeOf),
};

function combine(left: Filter, right: Filter, apply: Compare): Filter {
  return (input, meter) => {
    const ones = left(input, meter);
    return flatMap(right(input, meter), (other) => ones.map((one) => apply(one, other, meter)), meter);
  };
}

function attempt(filter: Filter, input: Json, meter: Meter): Json[] {
  try {
    return filter(input, meter);
  } catch (error) {
    if (error instanceof TooCostly) throw error;
    return [];
  }
}

function memberOf(value: Json, key: Json, meter: Meter): Json {
  meter.charge(1);
  if (value === null) return null;
  if (typeof key === "string" && isObject(value)) return getMember(value, key) ?? null;
  if (typeof key === "number" && Array.isArray(value)) return value.at(key) ?? null;
  throw new Error(`cannot index ${typeOf(value)} with ${typeOf(key)}`);
}

function itemsOf(value: Json, meter: Meter): Json[] {
  if (Array.isArray(value)) return counted(value, meter);
  if (isObject(value))
    return counted(
      Object.values(value).map((one) => one ?? null),
      meter,
    );
  throw new Error(`cannot iterate over ${typeOf(value)}`);
}

function lengthOf(value: Json): number {
  if (value === null) return 0;
  return typeof value === "string" || Array.isArray(value) ? value.length : Object.keys(value).length;
}

function typeOf(value: Json): string {
  if (value === null) return "null";
  return Array.isArray(value) ? "array" : typeof value;
}
