import { isObject, type Json } from "../../../base/api/object.ts";
import { getMember } from "../../../base/util/members.ts";
import { parseJsonText } from "../../../base/util/parse-json.ts";

/** A jq filter: the outputs for an input. Throws where jq fails. */
export type Filter = (input: Json) => Json[];

const TOKEN = /\s*("(?:\\.|[^"\\])*"|-?\d+(?:\.\d+)?|[A-Za-z_]\w*|\.[A-Za-z_]\w*|\/\/|==|!=|<=|>=|[<>|,.[\]()?])/y;

/** Compiles a filter: paths, pipes, comparisons, `//`, and some functions. Throws for anything else. */
export function compileJq(source: string): Filter {
  const tokens: string[] = [];
  const { length } = source.trimEnd();
  for (let at = 0; at < length; at = TOKEN.lastIndex) {
    TOKEN.lastIndex = at;
    const found = TOKEN.exec(source);
    if (found === null) throw new Error(`jq expression ${source} is not supported at ${source.slice(at)}`);
    tokens.push(found[1] ?? "");
  }
  return new JqReader(tokens, source).all();
}

type Compare = (one: Json, other: Json) => boolean;

const COMPARISONS: Readonly<Record<string, Compare>> = {
  "==": (one, other) => JSON.stringify(one) === JSON.stringify(other),
  "!=": (one, other) => JSON.stringify(one) !== JSON.stringify(other),
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
    let left = this.#comma();
    while (this.#take("|")) {
      const [first, next] = [left, this.#comma()];
      left = (input) => first(input).flatMap(next);
    }
    return left;
  }

  #comma(): Filter {
    let left = this.#alternative();
    while (this.#take(",")) {
      const [first, next] = [left, this.#alternative()];
      left = (input) => [...first(input), ...next(input)];
    }
    return left;
  }

  #alternative(): Filter {
    const left = this.#or();
    if (!this.#take("//")) return left;
    const right = this.#alternative();
    return (input) => {
      const found = attempt(left, input).filter(isTrue);
      return found.length > 0 ? found : right(input);
    };
  }

  #or(): Filter {
    const left = this.#and();
    return this.#take("or") ? combine(left, this.#or(), (one, other) => isTrue(one) || isTrue(other)) : left;
  }

  #and(): Filter {
    const left = this.#comparison();
    return this.#take("and") ? combine(left, this.#and(), (one, other) => isTrue(one) && isTrue(other)) : left;
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
    for (;;) {
      const token = this.#tokens[this.#at] ?? "";
      const before = filter;
      if (/^\.[A-Za-z_]/.test(token)) {
        this.#at += 1;
        filter = (input) => before(input).map((value) => memberOf(value, token.slice(1)));
      } else if (token === "[" || (token === "." && this.#tokens[this.#at + 1] === "[")) {
        this.#at += token === "." ? 1 : 0;
        const suffix = this.#bracket();
        filter = (input) => before(input).flatMap((value) => suffix(value, input));
      } else if (token === "?") {
        this.#at += 1;
        filter = (input) => attempt(before, input);
      } else return filter;
    }
  }

  /** `[]`, `[0]` or `["name"]`. */
  #bracket(): (value: Json, input: Json) => Json[] {
    this.#expect("[");
    if (this.#take("]")) return (value) => itemsOf(value);
    const key = this.#pipe();
    this.#expect("]");
    return (value, input) => key(input).map((one) => memberOf(value, one));
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
        return (input) => [memberOf(input, name)];
      }
      if (this.#tokens[this.#at] === "[") {
        const suffix = this.#bracket();
        return (input) => suffix(input, input);
      }
      return (input) => [input];
    }
    if (/^\.[A-Za-z_]/.test(token)) return (input) => [memberOf(input, token.slice(1))];
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

/** Applies a function to a single text or value that the argument yields. */
const withArgument =
  (apply: (input: Json, argument: Json) => Json) =>
  (argument: Filter): Filter =>
  (input) =>
    argument(input).map((one) => apply(input, one));

const constant = (value: Json) => (): Filter => () => [value];

const FUNCTIONS: Readonly<Record<string, (argument: Filter) => Filter>> = {
  true: constant(true),
  false: constant(false),
  null: constant(null),
  empty: () => () => [],
  not: () => (input) => [!isTrue(input)],
  select: (test) => (input) =>
    test(input)
      .filter(isTrue)
      .map(() => input),
  map: (each) => (input) => [itemsOf(input).flatMap(each)],
  length: () => (input) => [lengthOf(input)],
  keys: () => (input) => [Object.keys(input as object).sort()],
  any: (test) => (input) => [itemsOf(input).flatMap(test).some(isTrue)],
  all: (test) => (input) => [itemsOf(input).flatMap(test).every(isTrue)],
  has: withArgument((input, key) => Object.hasOwn(input as object, String(key))),
  startswith: withArgument((input, part) => String(input).startsWith(String(part))),
  endswith: withArgument((input, part) => String(input).endsWith(String(part))),
  tostring: () => (input) => [typeof input === "string" ? input : JSON.stringify(input)],
  tonumber: () => (input) => [Number(input)],
  type: () => (input) => [typeOf(input)],
};

function combine(left: Filter, right: Filter, apply: Compare): Filter {
  return (input) => right(input).flatMap((other) => left(input).map((one) => apply(one, other)));
}

function attempt(filter: Filter, input: Json): Json[] {
  try {
    return filter(input);
  } catch {
    return [];
  }
}

function memberOf(value: Json, key: Json): Json {
  if (value === null) return null;
  if (typeof key === "string" && isObject(value)) return getMember(value, key) ?? null;
  if (typeof key === "number" && Array.isArray(value)) return value.at(key) ?? null;
  throw new Error(`cannot index ${typeOf(value)} with ${JSON.stringify(key)}`);
}

function itemsOf(value: Json): Json[] {
  if (Array.isArray(value)) return value;
  if (isObject(value)) return Object.values(value).map((one) => one ?? null);
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
