import { isObject, type Json } from "../../../../base/api/object.ts";
import { getMember } from "../../../../base/util/members.ts";
import { type Block, type Operand, type Part, type Pipeline, parseTemplate } from "./parse.ts";
import { isTrue, printValue } from "./values.ts";

/** A function of templates. Undefined arguments are values that do not exist. */
export type TemplateFunction = (...args: readonly Value[]) => Value;

/** A value of a template. Undefined: it does not exist. */
export type Value = Json | undefined;

/** Functions by name. */
export type TemplateFunctions = Readonly<Record<string, TemplateFunction>>;

/** Compiles a template. Throws if it is malformed or calls an unknown function. */
export function compileTemplate(
  text: string,
  isKnown: (name: string) => boolean,
): (data: Json, functions: TemplateFunctions) => string {
  const parts = parseTemplate(text);
  for (const name of functionsIn(parts)) {
    if (!isKnown(name) && name !== "and" && name !== "or") throw new Error(`function ${name} is not supported`);
  }
  return (data, functions) => new Evaluation(functions, data).print(parts, data);
}

class Evaluation {
  readonly #functions: TemplateFunctions;
  /** Variables by name: the innermost scope last. */
  readonly #scopes: Map<string, Value>[];

  constructor(functions: TemplateFunctions, root: Json) {
    this.#functions = functions;
    this.#scopes = [new Map([["$", root]])];
  }

  print(parts: readonly Part[], dot: Value): string {
    return parts.map((part) => this.#part(part, dot)).join("");
  }

  #part(part: Part, dot: Value): string {
    if (part.type === "text") return part.text;
    if (part.type === "print") {
      const value = this.#pipeline(part.pipeline, dot);
      return part.pipeline.variables.length > 0 ? "" : printValue(value);
    }
    this.#scopes.push(new Map());
    try {
      return part.type === "range" ? this.#range(part, dot) : this.#choice(part, dot);
    } finally {
      this.#scopes.pop();
    }
  }

  #choice({ type, pipeline, body, otherwise }: Block, dot: Value): string {
    const value = this.#pipeline(pipeline, dot);
    if (!isTrue(value)) return this.print(otherwise, dot);
    return this.print(body, type === "with" ? value : dot);
  }

  #range({ pipeline, body, otherwise }: Block, dot: Value): string {
    const { variables } = pipeline;
    const items = entriesOf(this.#pipeline({ ...pipeline, variables: [] }, dot));
    if (items.length === 0) return this.print(otherwise, dot);
    return items
      .map(([key, value]) => {
        const values = variables.length > 1 ? [key, value] : [value];
        this.#scopes.push(new Map(variables.map((name, index) => [name, values[index]])));
        try {
          return this.print(body, value);
        } finally {
          this.#scopes.pop();
        }
      })
      .join("");
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
    return called(...operands.map((operand) => this.#operand(operand, dot)), ...piped);
  }

  #operand({ from, fields }: Operand, dot: Value): Value {
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

/** What `range` iterates over: members of objects are sorted by name. */
function entriesOf(value: Value): [Value, Value][] {
  if (Array.isArray(value)) return value.map((one, index) => [index, one]);
  if (typeof value === "number") return Array.from({ length: value }, (_, index) => [index, index]);
  if (!isObject(value)) return [];
  return Object.keys(value)
    .sort()
    .map((key) => [key, value[key]]);
}

function functionsIn(parts: readonly Part[]): string[] {
  return parts.flatMap((part) => {
    if (part.type === "text") return [];
    const own = inPipeline(part.pipeline);
    return part.type === "print" ? own : [...own, ...functionsIn(part.body), ...functionsIn(part.otherwise)];
  });
}

function inPipeline({ commands }: Pipeline): string[] {
  return commands.flat().flatMap(({ from }) => {
    if (from.type === "function") return [from.name];
    return from.type === "pipeline" ? inPipeline(from.pipeline) : [];
  });
}
