import type { Random } from "../random.ts";
import { LITERALS, PRODUCTIONS, TEXTS } from "./productions.ts";
import { type Bindings, type CelType, fits, isSame, parseType, resolve } from "./types.ts";

/** A template, cut at its holes and variables. */
type Part = string | { readonly hole: CelType } | { readonly variable: CelType; readonly text: string };

interface Production {
  readonly result: CelType;
  readonly parts: readonly Part[];
}

const PIECES = /\{([a-z]\w*(?:-\w+)?(?:<[\w$,<>]+>)?|\$\w)\}|@\w+:([\w$<>,]*[\w$>])/gi;

function readTemplate(template: string): Part[] {
  const parts: Part[] = [];
  let end = 0;
  for (const match of template.matchAll(PIECES)) {
    parts.push(template.slice(end, match.index));
    const [text, hole, variable] = match;
    if (hole !== undefined) parts.push({ hole: parseType(hole) });
    else if (variable !== undefined) parts.push({ variable: parseType(variable), text });
    end = match.index + text.length;
  }
  return [...parts, template.slice(end)];
}

const productions: readonly Production[] = PRODUCTIONS.flatMap(([type, ...templates]) =>
  templates.map((template) => ({ result: parseType(type), parts: readTemplate(template) })),
);

const SIMPLE = ["int", "string", "bool", "double", "int", "string", "uint", "bytes", "duration", "timestamp"].map(
  parseType,
);
const RARE = [
  "ip",
  "cidr",
  "quantity",
  "semver",
  "url",
  "type",
  "dyn",
  "null",
  "optional<int>",
  "list<int>",
  "list<string>",
  "map<string,int>",
].map(parseType);
const VARIABLES = ["x", "y", "item", "k", "v", "self", "type", "a"];
const FORMATS: readonly (readonly [clause: string, type: string])[] = [
  ["%s", "$a"],
  ["%s", "string"],
  ["%d", "int"],
  ["%d", "uint"],
  ["%f", "double"],
  ["%.3f", "double"],
  ["%e", "double"],
  ["%.2e", "double"],
  ["%b", "int"],
  ["%b", "bool"],
  ["%o", "int"],
  ["%x", "int"],
  ["%X", "string"],
  ["%x", "bytes"],
  ["%%", ""],
];

/** A variable that an expression may use. */
export interface Variable {
  readonly name: string;
  readonly type: CelType;
}

/** Makes expressions of given types. `wrong` is how often a part gets another type than it should have. */
export class ExpressionMaker {
  readonly #random: Random;
  readonly #wrong: number;
  #scope: readonly Variable[];

  constructor(random: Random, variables: readonly Variable[], wrong: number) {
    this.#random = random;
    this.#scope = variables;
    this.#wrong = wrong;
  }

  of(type: CelType, depth: number): string {
    const random = this.#random;
    const wanted = this.#wrong > 0 && random.chance(this.#wrong) ? this.#anyType() : type;
    if (depth <= 0 || random.chance(0.12)) return this.#leaf(wanted, depth);
    if (wanted.name === "has") return this.#presence();
    if (wanted.name === "format-call") return this.#format(depth);
    if (wanted.fields) return this.#object(wanted, depth);
    if (random.chance(0.2)) {
      const path = this.#path(wanted);
      if (path !== undefined) return path;
    }
    const candidates: [Production, Bindings][] = [];
    for (const production of productions) {
      const bindings: Bindings = new Map();
      const isGeneral = production.result.name.startsWith("$");
      if (isGeneral && !random.chance(0.25)) continue;
      if (fits(production.result, wanted, bindings)) candidates.push([production, bindings]);
    }
    if (candidates.length === 0) return this.#leaf(wanted, depth);
    const [production, bindings] = random.pick(candidates);
    return this.#fill(production, bindings, depth);
  }

  #fill({ parts }: Production, bindings: Bindings, depth: number): string {
    const before = this.#scope;
    let text = "";
    for (const part of parts) {
      if (typeof part === "string") text += part;
      else if ("hole" in part)
        text += this.#operand(
          resolve(part.hole, bindings, () => this.#someType()),
          depth - 1,
        );
      else {
        const name = this.#random.pick(VARIABLES.slice(0, this.#random.chance(0.03) ? VARIABLES.length : 5));
        const type = resolve(part.variable, bindings, () => this.#someType());
        this.#scope = [...this.#scope.filter((known) => known.name !== name), { name, type }];
        text += name;
      }
    }
    this.#scope = before;
    return text;
  }

  /** Operators bind differently in different places; most parts are put into parentheses. */
  #operand(type: CelType, depth: number): string {
    const text = this.of(type, depth);
    const isClosed = !/^[-!]| /.test(text) || this.#random.chance(0.1);
    return isClosed ? text : `(${text})`;
  }

  #someType(): CelType {
    const objects = this.#scope.flatMap(({ type }) => partsOf(type)).filter((type) => type.fields);
    if (objects.length > 0 && this.#random.chance(0.15)) return this.#random.pick(objects);
    return this.#random.chance(0.8) ? this.#random.pick(SIMPLE) : this.#random.pick(RARE);
  }

  #anyType(): CelType {
    const simple = this.#someType();
    return this.#random.chance(0.8) ? simple : { name: "list", args: [simple] };
  }

  #leaf(type: CelType, depth: number): string {
    const random = this.#random;
    const path = random.chance(0.6) ? this.#path(type) : undefined;
    if (path !== undefined) return path;
    const texts = TEXTS.filter(([known]) => known === type.name);
    const pool = texts.length > 0 && random.chance(0.35) ? random.pick(texts)[1] : type.name;
    const literals = LITERALS[pool];
    if (literals) return random.pick(literals);
    const [first, second] = type.args;
    switch (type.name) {
      case "list":
        return `[${random.some(depth < -1 ? 0 : 2, () => this.#leaf(first as CelType, depth - 1)).join(", ")}]`;
      case "map":
        return `{${random.some(depth < -1 ? 0 : 1, () => `${this.#leaf(first as CelType, depth - 1)}: ${this.#leaf(second as CelType, depth - 1)}`).join(", ")}}`;
      case "optional":
        return depth < -1 || random.chance(0.3)
          ? "optional.none()"
          : `optional.of(${this.#leaf(first as CelType, depth - 1)})`;
      case "dyn":
        return `dyn(${this.#leaf(random.pick(SIMPLE), depth - 1)})`;
      case "has":
        return this.#presence();
      case "format-call":
        return "'%s'.format([1])";
      default:
        return type.fields ? this.#object(type, depth) : "nothing";
    }
  }

  #object(type: CelType, depth: number): string {
    const path = this.#path(type);
    if (path !== undefined) return path;
    const list = this.#path({ name: "list", args: [type] });
    return list === undefined ? this.of(parseType("dyn"), depth - 1) : `${list}[${this.#random.pick(["0", "1"])}]`;
  }

  /** A variable, or a field of one, of this type. */
  #path(type: CelType): string | undefined {
    const found: string[] = [];
    for (const { name, type: own } of this.#scope) collect(own, name, type, found, 3);
    return found.length > 0 ? this.#random.pick(found) : undefined;
  }

  #presence(): string {
    const random = this.#random;
    const objects = this.#scope.flatMap(({ name, type }) => (type.fields ? [{ name, type }] : []));
    if (objects.length === 0) return "has({'a': 1}.a)";
    let { name, type } = random.pick(objects);
    for (let level = 0; level < 3; level++) {
      const [field, below] = random.pick([...(type.fields ?? [])]);
      name += random.chance(0.05) ? ".nothing" : `.${field}`;
      if (!below.fields || random.chance(0.5)) break;
      type = below;
    }
    return `has(${name})`;
  }

  #format(depth: number): string {
    const clauses = this.#random.some(3, () => this.#random.pick(FORMATS));
    const args = clauses
      .filter(([, type]) => type !== "")
      .map(([, type]) => resolve(parseType(type), new Map(), () => this.#someType()));
    const values = args.map((type) => this.#operand(type, depth - 1));
    if (this.#random.chance(0.05)) values.push("1");
    return `'${clauses.map(([clause]) => clause).join(this.#random.pick([" ", "-", "é", ""]))}'.format([${values.join(", ")}])`;
  }
}

function partsOf(type: CelType): CelType[] {
  return [type, ...type.args.flatMap(partsOf), ...[...(type.fields?.values() ?? [])].flatMap(partsOf)];
}

/** All ways from a value to parts of a type: fields, optional fields, and items of lists. */
function collect(own: CelType, text: string, wanted: CelType, found: string[], depth: number): void {
  if (isSame(own, wanted)) found.push(text);
  if (depth === 0) return;
  for (const [name, type] of own.fields ?? []) {
    collect(type, `${text}.${name}`, wanted, found, depth - 1);
    if (wanted.name === "optional" && isSame(type, wanted.args[0] as CelType)) found.push(`${text}.?${name}`);
  }
}
