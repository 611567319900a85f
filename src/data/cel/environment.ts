import { type Macro, macroKey } from "./parser/macro.ts";
import type { Constant, FunctionDeclaration, Library, Overload, Validator } from "./standard/library.ts";
import type { Type } from "./values/types.ts";
import type { Value } from "./values/value.ts";

/** Provides types of objects with declared fields. */
export interface TypeProvider {
  /** The type with this name, for object literals and as a value. */
  findType?(name: string): Type | undefined;
  /** Whether type names are not values: DeclTypeProvider.FindIdent does not resolve them. */
  readonly isWithoutTypeValues?: boolean;
  findField(type: string, field: string): Type | undefined;
  /** Creates the object of a literal. */
  create?(type: string, fields: ReadonlyMap<string, Value>): Value;
}

/** The parts of an environment. */
export interface EnvironmentOptions {
  readonly libraries?: readonly Library[];
  /** Types of variables by name. Names may contain dots. */
  readonly variables?: Readonly<Record<string, Type>> | ReadonlyMap<string, Type>;
  readonly types?: TypeProvider;
  /** The namespace that is prepended to unresolved names. */
  readonly container?: string;
}

interface MergedFunction extends Omit<FunctionDeclaration, "overloads"> {
  readonly overloads: Overload[];
}

/** The declarations that expressions can use. Immutable; `extend` creates a new one. */
export class Environment {
  readonly macros: ReadonlyMap<string, Macro>;
  readonly variables: ReadonlyMap<string, Type>;
  readonly constants: ReadonlyMap<string, Constant>;
  readonly validators: readonly Validator[];
  readonly types: TypeProvider | undefined;
  readonly container: string;
  private readonly functions: ReadonlyMap<string, FunctionDeclaration>;

  constructor(options: EnvironmentOptions, base?: Environment) {
    const libraries = options.libraries ?? [];
    const macros = new Map(base?.macros);
    const constants = new Map(base?.constants);
    const functions = new Map<string, MergedFunction>();
    for (const [name, known] of libraries.length > 0 ? (base?.functions ?? []) : []) {
      functions.set(name, { ...known, overloads: [...known.overloads] });
    }
    for (const library of libraries) {
      for (const macro of library.macros ?? []) macros.set(macroKey(macro.name, macro.args, macro.isMember), macro);
      for (const constant of library.constants ?? []) constants.set(constant.name, constant);
      for (const declared of library.functions ?? []) merge(functions, declared);
    }
    const added = options.variables ?? {};
    this.variables = new Map([...(base?.variables ?? []), ...(added instanceof Map ? added : Object.entries(added))]);
    this.macros = macros;
    this.constants = constants;
    // Without further libraries, the functions of the base are shared.
    this.functions = base && libraries.length === 0 ? base.functions : functions;
    this.validators = [...(base?.validators ?? []), ...libraries.flatMap((library) => library.validators ?? [])];
    this.types = options.types ?? base?.types;
    this.container = options.container ?? base?.container ?? "";
  }

  /** Creates an environment with additional declarations. */
  extend(options: EnvironmentOptions): Environment {
    return new Environment(options, this);
  }

  /** The function with exactly this name. */
  findFunction(name: string): FunctionDeclaration | undefined {
    return this.functions.get(name);
  }

  /** The qualified names that a name may refer to, those within the container first. */
  candidates(name: string): readonly string[] {
    if (name.startsWith(".")) return [name.slice(1)];
    if (this.container === "") return [name];
    const parts = this.container.split(".");
    const names: string[] = [];
    for (let count = parts.length; count > 0; count--) names.push(`${parts.slice(0, count).join(".")}.${name}`);
    return [...names, name];
  }
}

/** Adds the number of type parameters to an overload. */
function withParameters(overload: Overload): Overload {
  const names = new Set<string>();
  const visit = (type: Type): void => {
    if (type.kind === "param") names.add(type.name);
    type.params.forEach(visit);
  };
  visit(overload.result);
  overload.args.forEach(visit);
  return names.size === 0 ? overload : { ...overload, parameters: names.size };
}

function merge(functions: Map<string, MergedFunction>, declared: FunctionDeclaration): void {
  const known = functions.get(declared.name);
  const overloads = [...(known?.overloads ?? [])];
  for (const one of declared.overloads) {
    const overload = withParameters(one);
    const at = overloads.findIndex(({ id }) => id === overload.id);
    if (at < 0) overloads.push(overload);
    else overloads[at] = overload;
  }
  functions.set(declared.name, { ...declared, ...known, overloads });
}
