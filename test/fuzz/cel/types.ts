/** A type of expressions as the fuzzer knows it: `int`, `list<string>`, or an object with fields. */
export interface CelType {
  readonly name: string;
  readonly args: readonly CelType[];
  /** The fields of an object, by the names that expressions use. */
  readonly fields?: ReadonlyMap<string, CelType>;
}

const known = new Map<string, CelType>();

/** Reads a type such as `map<string,list<$a>>`; `$a` stands for any type, the same one everywhere in a production. */
export function parseType(text: string): CelType {
  const found = known.get(text);
  if (found) return found;
  const open = text.indexOf("<");
  const type: CelType =
    open < 0
      ? { name: text, args: [] }
      : { name: text.slice(0, open), args: splitTop(text.slice(open + 1, -1)).map(parseType) };
  known.set(text, type);
  return type;
}

function splitTop(text: string): string[] {
  const parts: string[] = [];
  let depth = 0;
  let start = 0;
  for (const [at, char] of [...text].entries()) {
    if (char === "<") depth += 1;
    else if (char === ">") depth -= 1;
    else if (char === "," && depth === 0) {
      parts.push(text.slice(start, at));
      start = at + 1;
    }
  }
  return [...parts, text.slice(start)];
}

/** Whether two types are the same one; objects are by identity. */
export function isSame(a: CelType, b: CelType): boolean {
  if (a === b) return true;
  if (a.fields || b.fields || a.name !== b.name || a.args.length !== b.args.length) return false;
  return a.args.every((arg, index) => isSame(arg, b.args[index] as CelType));
}

/** What `$a` and the like stand for. */
export type Bindings = Map<string, CelType>;

/** Whether a pattern with variables can be this type; binds them. */
export function fits(pattern: CelType, type: CelType, bindings: Bindings): boolean {
  if (pattern.name.startsWith("$")) {
    const bound = bindings.get(pattern.name);
    if (bound) return isSame(bound, type);
    bindings.set(pattern.name, type);
    return true;
  }
  if (type.fields || pattern.name !== type.name || pattern.args.length !== type.args.length) return false;
  return pattern.args.every((arg, index) => fits(arg, type.args[index] as CelType, bindings));
}

/** The pattern with its variables replaced; those that stand for nothing yet get what `make` gives. */
export function resolve(pattern: CelType, bindings: Bindings, make: (variable: string) => CelType): CelType {
  if (pattern.name.startsWith("$")) {
    const type = bindings.get(pattern.name) ?? make(pattern.name);
    bindings.set(pattern.name, type);
    return type;
  }
  if (pattern.args.length === 0) return pattern;
  return { name: pattern.name, args: pattern.args.map((arg) => resolve(arg, bindings, make)) };
}
