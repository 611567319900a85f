import type { Environment } from "../environment.ts";
import { type Type, typeOf } from "../values/types.ts";
import { TypeValue, type Value } from "../values/value.ts";

/** The declaration of a name. */
export interface Found {
  readonly name: string;
  readonly type: Type;
  readonly constant?: Value;
  /** Whether a macro variable of the same name hides it, so that it has to be written with a leading dot. */
  readonly isHidden?: boolean;
}

/** The visible names: variables of macros, innermost last, then those of the environment. */
export class Scopes {
  private readonly env: Environment;
  private readonly locals: Found[] = [];

  constructor(env: Environment) {
    this.env = env;
  }

  /** Runs with additional variables. */
  within<T>(variables: readonly Found[], run: () => T): T {
    for (const variable of variables) this.locals.push(variable);
    const result = run();
    this.locals.length -= variables.length;
    return result;
  }

  /** Finds the declaration of a qualified name, given as its parts. */
  find(parts: readonly string[]): Found | undefined {
    const [first = ""] = parts;
    const isAbsolute = first.startsWith(".");
    const local = this.findLocal(isAbsolute ? first.slice(1) : first);
    if (local !== undefined && !isAbsolute) return parts.length === 1 ? local : undefined;
    for (const name of this.env.candidates(parts.length === 1 ? first : parts.join("."))) {
      const found = this.findGlobal(name);
      if (found !== undefined) return { ...found, isHidden: local !== undefined };
    }
    return undefined;
  }

  private findLocal(name: string): Found | undefined {
    for (let i = this.locals.length - 1; i >= 0; i--) {
      const local = this.locals[i] as Found;
      if (local.name === name) return local;
    }
    return undefined;
  }

  private findGlobal(name: string): Found | undefined {
    const variable = this.env.variables.get(name);
    if (variable !== undefined) return { name, type: variable };
    const constant = this.env.constants.get(name);
    if (constant !== undefined) return { name, type: constant.type, constant: constant.value };
    const struct = this.env.types?.findType?.(name);
    if (struct === undefined) return undefined;
    const found = { name, type: typeOf(struct) };
    return this.env.types?.isWithoutTypeValues ? found : { ...found, constant: new TypeValue(struct) };
  }

  /** Finds the type of an object literal. */
  findType(name: string): Found | undefined {
    for (const candidate of this.env.candidates(name)) {
      const found = this.findGlobal(candidate);
      if (found !== undefined) return found;
    }
    return undefined;
  }
}
