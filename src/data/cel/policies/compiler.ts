import type { Environment, TypeProvider } from "../environment.ts";
import { admissionEnvironment, admissionTypes } from "../kubernetes/admission-environment.ts";
import { newExpressions, storedExpressions } from "../kubernetes/environment.ts";
import { jsonPatchLibrary } from "../kubernetes/json-patch.ts";
import { CompileError, compile, Program, program } from "../program.ts";
import { dynType, listType, mapType, structType, type Type } from "../values/types.ts";
import { CelError } from "../values/value.ts";
import { patchTypes } from "./object-types.ts";

/** Whether an expression is new, or already stored and so may use everything. */
export type ExpressionMode = "new" | "stored";

/** What an expression of a policy may use besides object, oldObject, request and namespaceObject. */
export interface ExpressionScope {
  readonly params: boolean;
  readonly authorizer: boolean;
  /** `Object{…}`, `JSONPatch{…}` and `jsonpatch.escapeKey()`. */
  readonly patchTypes?: boolean;
}

/** A compiled expression or its error. Upstream: `CompilationResult`. */
export interface CompiledExpression {
  readonly text: string;
  readonly program?: Program;
  readonly type?: Type;
  /** The message of a `cel.Error`. */
  readonly error?: string;
  /** `ErrorTypeInternal`: the expression is valid, but no program can be created. */
  readonly isInternal?: boolean;
}

/** The type of `variables`. */
export const VARIABLES: Type = structType("kubernetes.variables");
const BASES: Readonly<Record<ExpressionMode, Environment>> = { new: newExpressions, stored: storedExpressions };

/** Environments without `variables`, shared by all compilers. */
const shared = new Map<string, Environment>();

/**
 * Compiles the expressions of one policy. Variables can be used by expressions that are compiled after them. Upstream:
 * `CompositedCompiler`; without composition, `variables` is undeclared.
 */
export class PolicyCompiler {
  readonly variables = new Map<string, CompiledExpression>();
  readonly #composes: boolean;
  readonly #fields = new Map<string, Type>();
  readonly #own = new Map<string, Environment>();

  constructor(composes: boolean) {
    this.#composes = composes;
  }

  /** Compiles an expression that must have one of the types. Without types, any type is allowed. */
  compile(
    text: string,
    returns: readonly Type[],
    scope: ExpressionScope,
    mode: ExpressionMode = "stored",
  ): CompiledExpression {
    const env = this.#environment(scope, mode);
    const checked = compile(text, env);
    if (checked instanceof CompileError) return { text, error: `compilation failed: ${checked.message}` };
    const { type } = checked;
    if (returns.length > 0 && !returns.some((one) => one.is(type))) return { text, error: wrongType(returns, type) };
    const made = program(checked, env);
    if (made instanceof Program) return { text, type, program: made };
    return { text, error: `program instantiation failed: ${made.message}`, isInternal: true };
  }

  /** Compiles a variable and declares it for subsequent expressions. */
  addVariable(name: string, text: string, scope: ExpressionScope, mode: ExpressionMode = "stored"): CompiledExpression {
    const compiled = this.compile(text, [], scope, mode);
    this.#fields.set(name, fieldType(compiled.type));
    this.variables.set(name, compiled);
    return compiled;
  }

  #environment(scope: ExpressionScope, mode: ExpressionMode): Environment {
    const known = this.#composes ? this.#own : shared;
    const key = `${mode} ${scope.params} ${scope.authorizer} ${scope.patchTypes ?? false}`;
    const found = known.get(key);
    if (found) return found;
    const made = this.#build(scope, mode);
    known.set(key, made);
    return made;
  }

  #build(scope: ExpressionScope, mode: ExpressionMode): Environment {
    const plain = admissionEnvironment(BASES[mode], scope);
    const providers = [
      ...(scope.patchTypes ? [patchTypes] : []),
      ...(this.#composes ? [variableTypes(this.#fields)] : []),
    ];
    return plain.extend({
      types: typesOf([...providers, admissionTypes]),
      ...(this.#composes && { variables: { variables: VARIABLES } }),
      ...(scope.patchTypes && { libraries: [jsonPatchLibrary] }),
    });
  }
}

function wrongType(returns: readonly Type[], type: Type): string {
  const [only] = returns;
  const wanted = returns.length === 1 ? only?.describe() : `one of [${returns.map((one) => one.describe()).join(" ")}]`;
  return `must evaluate to ${wanted} but got ${type.describe()}`;
}

/** Provides the variables of a policy as fields of `variables`. */
export function variableTypes(fields: ReadonlyMap<string, Type>): TypeProvider {
  return {
    findType: (name) => (name === VARIABLES.name ? VARIABLES : undefined),
    findField: (type, field) => (type === VARIABLES.name ? fields.get(field) : undefined),
  };
}

/** Combines several providers. The first that knows a type is used. */
export function typesOf(providers: readonly TypeProvider[]): TypeProvider {
  const knowing = (name: string) => providers.find((one) => one.findType?.(name) !== undefined);
  return {
    findType: (name) => knowing(name)?.findType?.(name),
    findField: (type, field) => knowing(type)?.findField(type, field),
    create: (type, fields) => knowing(type)?.create?.(type, fields) ?? new CelError(`unknown type '${type}'`),
  };
}

/**
 * The type of a variable in other expressions. Compat: `convertCelTypeToDeclType` supports simple types, lists and
 * maps.
 */
export function fieldType(type: Type = dynType): Type {
  switch (type.kind) {
    case "opaque":
    case "struct":
    case "type":
    case "error":
    case "param":
      return dynType;
    case "list":
      return listType(fieldType(type.params[0]));
    case "map":
      return mapType(fieldType(type.params[0]), fieldType(type.params[1]));
    default:
      return type;
  }
}
