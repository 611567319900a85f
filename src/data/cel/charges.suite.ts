import { readdirSync } from "node:fs";
import path from "node:path";
import type { Meter } from "../../base/util/meter.ts";
import { Environment } from "./environment.ts";
import { authorizerType, authorizerValue } from "./kubernetes/authorizer.ts";
import { operators } from "./parser/ast.ts";
import type { Macro } from "./parser/macro.ts";
import { CompileError, compile, type Program, program } from "./program.ts";
import type { FunctionDeclaration, Library, Overload } from "./standard/library.ts";
import { jsonValue } from "./values/json.ts";
import { concatLists, GrowingList } from "./values/lists.ts";
import { EntryMap } from "./values/maps.ts";
import { dynType, listType, optionalType, stringType, type Type, type TypeKind } from "./values/types.ts";
import {
  ArrayList,
  Bytes,
  Double,
  Duration,
  isError,
  Optional,
  Timestamp,
  TypeValue,
  Uint,
  type Value,
} from "./values/value.ts";

/** Every library in the folders of libraries, so that a new one is never forgotten. */
async function allLibraries(): Promise<readonly Library[]> {
  const found = new Set<Library>();
  for (const folder of ["standard", "kubernetes"]) {
    for (const file of readdirSync(path.join(import.meta.dirname, folder))) {
      if (!file.endsWith(".ts") || file.endsWith(".test.ts")) continue;
      const module = (await import(`./${folder}/${file}`)) as Record<string, unknown>;
      for (const value of Object.values(module)) if (isLibrary(value)) found.add(value);
    }
  }
  return [...found];
}

function isLibrary(value: unknown): value is Library {
  if (typeof value !== "object" || value === null || !("name" in value) || typeof value.name !== "string") return false;
  return ["functions", "macros", "validators"].some((member) => Array.isArray((value as never)[member]));
}

/** Texts: a start, a part that is repeated up to the size, an end. Each is what some function reads. */
const TEXTS: readonly (readonly [start: string, part: string, end: string])[] = [
  ["", "a", ""],
  ["", "1", ""],
  ["", " ", "A"],
  ["", "\u{1f600}", ""],
  ["", '"\\', ""],
  ["", "a,%s", ""],
  ["", "1h", ""],
  ["1.0.0-", "a.", "a"],
  ["https://a.example/?", "a=b&", ""],
  ["", "0:", ""],
  ["", "(a|b)*", ""],
  ["2020-01-01T00:00:00.", "0", "Z"],
  ["1.2.3.4", "", ""],
  ["1.2.3.0/24", "", ""],
];

function text(form: number, size: number): string {
  const [start, part, end] = TEXTS[form % TEXTS.length] as readonly [string, string, string];
  return start + (part === "" ? "" : part.repeat(Math.ceil(size / part.length))) + end;
}

const FORMS: Partial<Record<TypeKind, number>> = {
  ...{ string: TEXTS.length, bytes: 2, list: 4, map: 2, dyn: 4, param: 4 },
  ...{ struct: 2, opaque: 4, int: 3, bool: 2 },
};

/** How many forms of a value of a type there are. */
const formsOf = ({ kind }: Type): number => FORMS[kind] ?? 1;

const times = <T>(count: number, make: (index: number) => T): T[] => Array.from({ length: count }, (_, at) => make(at));

/** Makes a value of a type and size. The forms of a type are numbered; a larger number begins again. */
type Make = (type: Type, size: number, form: number) => Value;

/** Makes values. A type of a library is what the library's functions return for such values. */
function sampler(declared: readonly FunctionDeclaration[]): Make {
  const makers = (type: Type): readonly Overload[] =>
    declared.flatMap(({ overloads }) => overloads.filter(({ result, call }) => call !== undefined && result.is(type)));
  const foreign: Make = (type, size, form) => {
    if (type.is(authorizerType)) return authorizerValue(() => ({ isAllowed: true, reason: "" }));
    const found = makers(type).filter(({ args }) => !args.some((arg) => arg.is(type)));
    for (const shift of TEXTS.keys()) {
      for (const { args, call } of found) {
        const made = (call as (...values: Value[]) => Value)(...args.map((arg) => make(arg, size, form + shift)));
        if (!isError(made)) return made;
      }
    }
    throw new Error(`no function makes a value of type ${type}: add a text that one accepts`);
  };
  const make: Make = (type, size, form) => {
    const [first] = type.params;
    if (first !== undefined && type.is(optionalType(first))) return new Optional(make(first, size, form));
    if (first !== undefined && type.kind === "list") return listOf(first, size, form, make);
    if (type.kind === "map") return mapOf(size, form);
    return plain(type.kind, size, form) ?? foreign(type, size, form);
  };
  return make;
}

/** A value of a type without parameters. Undefined for types of libraries. */
function plain(kind: TypeKind, size: number, form: number): Value | undefined {
  switch (kind) {
    case "null":
      return null;
    case "bool":
      return form % 2 === 0;
    case "int":
      return [0, size, 2][form % 3];
    case "uint":
      return new Uint(BigInt(size));
    case "double":
      return new Double(size + 0.5);
    case "duration":
      return new Duration(BigInt(size));
    case "timestamp":
      return new Timestamp(size, 0);
    case "type":
      return new TypeValue(stringType);
    case "string":
      return text(form, size);
    case "bytes":
      return new Bytes(Buffer.from(text(form, size)));
    case "dyn":
    case "param":
      return anyValue(size, form);
    default:
      return undefined;
  }
}

function anyValue(size: number, form: number): Value {
  switch (form % 4) {
    case 0:
      return jsonValue(times(size, (at) => at));
    case 1:
      return mapOf(size, form);
    case 2:
      return text(0, size);
    default:
      return jsonValue(times(size, (at) => [`item-${at}`]));
  }
}

function mapOf(size: number, form: number): Value {
  const entries = times(size, (at) => [`item-${at}`, at] as const);
  return form % 2 === 0 ? EntryMap.of(entries) : jsonValue(Object.fromEntries(entries));
}

/** Items are short and all different where the type allows it. */
function listOf(type: Type, size: number, form: number, make: Make): Value {
  const items = times(size, (at) => (type.kind === "string" ? `item-${at}` : make(type, at % 10, form)));
  const half = Math.floor(size / 2);
  switch (form % 4) {
    case 0:
      return new ArrayList(times(size, (at) => (isAny(type) ? at : (items[at] as Value))));
    case 1:
      return new GrowingList(items, items.length);
    case 2:
      return concatLists(new ArrayList(items.slice(0, half)), new ArrayList(items.slice(half)));
    default:
      // A few long items.
      return new ArrayList(isAny(type) ? [text(4, size), [text(0, size)]].map((one) => jsonValue(one)) : items);
  }
}

const isAny = ({ kind }: Type) => kind === "dyn" || kind === "param";

const [X, Y, Z] = ["x0", "x1", "x2"];

/** How operators are written. Undefined: an expression cannot contain it, only the expansion of a macro. */
const OPERATORS: Readonly<Record<string, string | undefined>> = {
  [operators.conditional]: `${X} ? ${Y} : ${Z}`,
  [operators.not]: `!${X}`,
  [operators.negate]: `-${X}`,
  [operators.index]: `${X}[${Y}]`,
  [operators.in]: `${X} in ${Y}`,
  [operators.optIndex]: `${X}[?${Y}]`,
  [operators.optSelect]: `${X}.?a`,
  ...Object.fromEntries(
    Object.values(operators).flatMap((name) => {
      const [, sign] = /^_([^_?[]+)_$/.exec(name) ?? [];
      return sign === undefined ? [] : [[name, `${X} ${sign} ${Y}`]];
    }),
  ),
};

/** The expression that calls an overload with x0, x1, … Undefined if only the expansions of macros call it. */
export function callText({ name }: FunctionDeclaration, { args, isMember }: Overload): string | undefined {
  if (name in OPERATORS) return OPERATORS[name];
  if (name.includes("@")) return undefined;
  const names = args.map((_, at) => `x${at}`);
  return isMember ? `${names[0]}.${name}(${names.slice(1).join(", ")})` : `${name}(${names.join(", ")})`;
}

/** Macros over the list or map x0. Throws if there is no example of one. */
export function macroText({ name, args }: Macro): string {
  const example = MACROS[`${name} ${args}`];
  if (example === undefined) throw new Error(`no example of the macro ${name} with ${args} arguments`);
  return example;
}

const MACROS: Readonly<Record<string, string>> = {
  "has 1": "has(x0.a)",
  "all 2": "x0.all(a, a == a)",
  "exists 2": "x0.exists(a, a != a)",
  "exists_one 2": "x0.exists_one(a, a != a)",
  "map 2": "x0.map(a, a)",
  "map 3": "x0.map(a, true, a)",
  "filter 2": "x0.filter(a, true)",
  "all 3": "x0.all(a, b, b == b)",
  "exists 3": "x0.exists(a, b, b != b)",
  "existsOne 3": "x0.existsOne(a, b, b != b)",
  "exists_one 3": "x0.exists_one(a, b, b != b)",
  "transformList 3": "x0.transformList(a, b, b)",
  "transformList 4": "x0.transformList(a, b, true, b)",
  "transformMap 3": "x0.transformMap(a, b, b)",
  "transformMap 4": "x0.transformMap(a, b, true, b)",
  "transformMapEntry 3": "x0.transformMapEntry(a, b, {a: b})",
  "transformMapEntry 4": "x0.transformMapEntry(a, b, true, {a: b})",
  "sortBy 2": "x0.sortBy(a, a)",
  "optMap 2": "optional.of(x0).optMap(a, a)",
  "optFlatMap 2": "optional.of(x0).optFlatMap(a, optional.of(a))",
  "bind 3": "cel.bind(a, x0, a)",
};

const base = new Environment({ libraries: await allLibraries() });
/** All functions of all libraries. */
export const functions: readonly FunctionDeclaration[] = [
  ...(Reflect.get(base, "functions") as ReadonlyMap<string, FunctionDeclaration>).values(),
];
/** All macros of all libraries. */
export const macros: readonly Macro[] = [...base.macros.values()];
const make = sampler(functions);

/** Compiles an expression with the variables x0, x1, … of these types, and the list `xs`. */
export function compiled(text: string, types: readonly Type[]): Program {
  const variables = [...types.map((type, at) => [`x${at}`, type] as const), ["xs", listType(dynType)] as const];
  const env = base.extend({ variables: Object.fromEntries(variables) });
  const checked = compile(text, env);
  if (checked instanceof CompileError) throw checked;
  const made = program(checked, env);
  if (made instanceof CompileError) throw made;
  return made;
}

const XS = new ArrayList(times(2000, (at) => at));

/** Evaluates an expression of `compiled` with values of x0, x1, … */
export const evaluate = (made: Program, values: readonly Value[], meter: Meter): Value =>
  made.evaluate((name) => (name === "xs" ? XS : values[Number(name.slice(1))]), Number.POSITIVE_INFINITY, meter).value;

const ALL = "all large";

/** Arguments of one form: all of them large, or only one. */
export interface Case {
  readonly name: string;
  readonly isAll: boolean;
  args(size: number): Value[];
}

/** The arguments of an overload in all forms. */
export function casesOf(types: readonly Type[]): Case[] {
  const cases: Case[] = [];
  const forms = Math.max(1, ...types.map(formsOf));
  for (let form = 0; form < forms; form++) {
    const add = (name: string, isLarge: (at: number) => boolean) =>
      cases.push({
        name: `form ${form}, ${name}`,
        isAll: name === ALL,
        args: (size) => types.map((type, at) => make(type, isLarge(at) ? size : 1, form)),
      });
    add(ALL, () => true);
    if (types.length > 1) for (const large of types.keys()) add(`large x${large}`, (at) => at === large);
  }
  return cases;
}
