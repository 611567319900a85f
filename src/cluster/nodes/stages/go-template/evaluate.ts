import { isObject, type Json } from "../../../../base/api/object.ts";
import { getMember } from "../../../../base/util/members.ts";
import { type Meter, TooCostly } from "../../../../base/util/meter.ts";
import { type Block, type Operand, type Part, type Pipeline, parseTemplate } from "./parse.ts";
import { isTrue, printValue } from "./values.ts";

/** A function of templates. Undefined arguments are values that do not exist. */
export type TemplateFunction = (...args: readonly Value[]) => Value;

/** A value of a template. Undefined: it does not exist. */
export type Value = Json | undefined;

/** Functions by name. */
export type TemplateFunctions = Readonly<Record<string, TemplateFunction>>;

/** A compiled template. Throws TooCostly if the meter has too little left. */
export type Template = (data: Json, functions: TemplateFunctions, meter: Meter) => string;

/** Units of the meter for a part, a call and an operand. */
const UNITS_PER_STEP = 10;
const CHARACTERS_PER_UNIT = 20;
/** Templates that call each other. */
const MAX_CALLS = 50;
/** A longer text is not a patch that anyone wants. */
const MAX_TEXT = 1024 * 1024;

/** Compiles a template. Throws if it is malformed or calls an unknown function. */
export function compileTemplate(text: string, isKnown: (name: string) => boolean): Template {
  const { parts, defined } = parseTemplate(text);
  for (const name of [parts, ...defined.values()].flatMap(functionsIn)) {
    if (!isKnown(name) && name !== "and" && name !== "or") throw new Error(`function ${name} is not supported`);
  }
  return (data, functions, meter) => new Evaluation(functions, data, defined, meter).print(parts, data);
}

/** Functions whose cost does not depend on the size of their arguments. */
const SHALLOW: ReadonlySet<string> = new Set([
  ...["not", "index", "len", "get", "hasKey", "first", "last", "default", "empty", "coalesce", "ternary"],
  ...["eq", "ne", "list", "dict"],
]);

class Evaluation {
  readonly #functions: TemplateFunctions;
  readonly #defined: ReadonlyMap<string, readonly Part[]>;
  readonly #meter: Meter;
  /** Variables by name: the innermost scope last. */
  #scopes: Map<string, Value>[];
  #calls = 0;
  #printed = 0;

  constructor(functions: TemplateFunctions, root: Json, defined: ReadonlyMap<string, readonly Part[]>, meter: Meter) {
    this.#functions = functions;
    this.#defined = defined;
    this.#meter = meter;
    this.#scopes = [new Map([["$", root]])];
  }

  print(parts: readonly Part[], dot: Value): string {
    let text = "";
    for (const part of parts) text += this.#part(part, dot);
    return text;
  }

  #part(part: Part, dot: Value): string {
    this.#meter.charge(UNITS_PER_STEP);
    if (part.type === "text") return this.#text(part.text);
    if (part.type === "print") {
      const value = this.#pipeline(part.pipeline, dot);
      if (part.pipeline.variables.length > 0) return "";
      weigh(value, this.#meter);
      return this.#text(printValue(value));
    }
    if (part.type === "template") return this.#template(part.name, part.pipeline && this.#pipeline(part.pipeline, dot));
    this.#scopes.push(new Map());
    try {
      return part.type === "range" ? this.#range(part, dot) : this.#choice(part, dot);
    } finally {
      this.#scopes.pop();
    }
  }

  /** Counts a text of the result. */
  #text(text: string): string {
    this.#printed += text.length;
    if (this.#printed > MAX_TEXT) throw new TooCostly();
    this.#meter.charge(text.length / CHARACTERS_PER_UNIT);
    return text;
  }

  /** A template that is called sees no variables but `$`, which is its argument. */
  #template(name: string, dot: Value): string {
    const parts = this.#defined.get(name);
    if (parts === undefined) throw new Error(`template ${name} is not defined`);
    this.#calls += 1;
    if (this.#calls > MAX_CALLS) throw new TooCostly();
    const outer = this.#scopes;
    this.#scopes = [new Map([["$", dot]])];
    try {
      return this.print(parts, dot);
    } finally {
      this.#scopes = outer;
      this.#calls -= 1;
    }
  }

  #choice({ type, pipeline, body, otherwise }: Block, dot: Value): string {
    const value = this.#pipeline(pipeline, dot);
    if (!isTrue(value)) return this.print(otherwise, dot);
    return this.print(body, type === "with" ? value : dot);
  }

  #range({ pipeline, body, otherwise }: Block, dot: Value): string {
    const { variables } = pipeline;
    const items = entriesOf(this.#pipeline({ ...pipeline, variables: [] }, dot), this.#meter);
    if (items.length === 0) return this.print(otherwise, dot);
    let text = "";
    for (const [key, value] of items) {
      this.#meter.charge(UNITS_PER_STEP);
      const values = variables.length > 1 ? [key, value] : [value];
      this.#scopes.push(new Map(variables.map((name, index) => [name, values[index]])));
      try {
        text += this.print(body, value);
      } finally {
        this.#scopes.pop();
      }
    }
    return text;
  }

  #pipeline({ commands, variables, isAssignment }: Pipeline, dot: Value): Value {
    let value: Value;
    for (const [index, command] of commands.entries()) value = this.#command(command, dot, index > 0 ? [value] : []);
    const [name] = variables;
    if (name !== undefined) this.#assign(name, value, isAssignment);
    return value;
  }

  #assign(name: string, value: Value, isAssignment: boolean): void {
    const known = isAssignment ? this.#scopes.findLast((scope) => scope.has(name)) : this.#scopes.at(-1);
    if (known === undefined) throw new Error(`undefined variable ${name}`);
    known.set(name, value);
  }

  #command([first, ...rest]: readonly Operand[], dot: Value, piped: readonly Value[]): Value {
    if (first === undefined) return undefined;
    if (first.from.type !== "function") {
      if (rest.length > 0 || piped.length > 0) throw new Error("can't give arguments to a value");
      return this.#operand(first, dot);
    }
    return follow(this.#call(first.from.name, rest, dot, piped), first.fields);
  }

  #call(name: string, operands: readonly Operand[], dot: Value, piped: readonly Value[]): Value {
    if (name === "and" || name === "or") {
      let value: Value;
      for (const operand of operands) {
        value = this.#operand(operand, dot);
        if (isTrue(value) === (name === "or")) return value;
      }
      return piped.length > 0 ? piped[0] : value;
    }
    const called = getMember(this.#functions, name);
    if (called === undefined) throw new Error(`function ${name} is not supported`);
    const args = [...operands.map((operand) => this.#operand(operand, dot)), ...piped];
    this.#meter.charge(UNITS_PER_STEP * args.length);
    if (!SHALLOW.has(name)) for (const arg of args) weigh(arg, this.#meter);
    this.#chargeGrowth(name, args);
    const result = called(...args);
    if (typeof result === "string") this.#meter.charge(result.length / CHARACTERS_PER_UNIT);
    return result;
  }

  /** Charges for the results of functions that can be much longer than their arguments, before they are made. */
  #chargeGrowth(name: string, args: readonly Value[]): void {
    const lengthAt = (index: number) => String(args[index] ?? "").length;
    const list = args[1];
    if (name === "replace") {
      this.#meter.charge(((lengthAt(2) / Math.max(1, lengthAt(0)) + 1) * lengthAt(1)) / CHARACTERS_PER_UNIT);
    }
    if (name === "join" && Array.isArray(list)) this.#meter.charge((list.length * lengthAt(0)) / CHARACTERS_PER_UNIT);
    if (name === "splitList") this.#meter.charge(lengthAt(1));
    if (name === "YAML" && typeof list === "number") {
      const indent = Math.min(list, MAX_TEXT);
      this.#meter.charge(indent * (1 + weigh(args[0], this.#meter)));
    }
  }

  #operand({ from, fields }: Operand, dot: Value): Value {
    this.#meter.charge(UNITS_PER_STEP);
    switch (from.type) {
      case "literal":
        return from.value;
      case "dot":
        return follow(dot, fields);
      case "variable":
        return follow(this.#variable(from.name), fields);
      case "pipeline":
        return follow(this.#pipeline(from.pipeline, dot), fields);
      case "function":
        return follow(this.#call(from.name, [], dot, []), fields);
    }
  }

  #variable(name: string): Value {
    const scope = this.#scopes.findLast((one) => one.has(name));
    if (scope === undefined) throw new Error(`undefined variable ${name}`);
    return scope.get(name);
  }
}

function follow(value: Value, fields: readonly string[]): Value {
  let at = value;
  for (const field of fields) at = isObject(at) ? getMember(at, field) : undefined;
  return at;
}

/** Charges for all values in a value, and returns how many there are. The same list may be in it many times. */
function weigh(value: Value, meter: Meter): number {
  if (typeof value === "string") {
    meter.charge(1 + value.length / CHARACTERS_PER_UNIT);
    return 1;
  }
  meter.charge(1);
  if (typeof value !== "object" || value === null) return 1;
  let count = 1;
  for (const name in value) {
    meter.charge(1 + name.length / CHARACTERS_PER_UNIT);
    count += weigh((value as { [name: string]: Json })[name], meter);
  }
  return count;
}

/** What `range` iterates over: members of objects are sorted by name. */
function entriesOf(value: Value, meter: Meter): [Value, Value][] {
  if (typeof value === "number") meter.charge(Math.max(0, value) * UNITS_PER_STEP);
  if (Array.isArray(value)) meter.charge(value.length);
  if (Array.isArray(value)) return value.map((one, index) => [index, one]);
  if (typeof value === "number") return Array.from({ length: value }, (_, index) => [index, index]);
  if (!isObject(value)) return [];
  const names = Object.keys(value).sort();
  meter.charge(names.length * UNITS_PER_STEP);
  return names.map((key) => [key, value[key]]);
}

function functionsIn(parts: readonly Part[]): string[] {
  return parts.flatMap((part) => {
    if (part.type === "text") return [];
    const own = part.pipeline ? inPipeline(part.pipeline) : [];
    return part.type === "print" || part.type === "template"
      ? own
      : [...own, ...functionsIn(part.body), ...functionsIn(part.otherwise)];
  });
}

function inPipeline({ commands }: Pipeline): string[] {
  return commands.flat().flatMap(({ from }) => {
    if (from.type === "function") return [from.name];
    return from.type === "pipeline" ? inPipeline(from.pipeline) : [];
  });
}
