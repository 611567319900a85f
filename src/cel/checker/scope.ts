import type { Environment } from "../environment.ts";
import { type Type, typeOf } from "../values/types.ts";
import { TypeValue, type Value } from "../values/value.ts";

/** What a name has been found to be. */
export interface Found {
  readonly name: string;
  readonly type: Type;
  readonly constant?: Value;
  /** Whether a variable of a macro has the same name, so that this one is meant by a dot in front. */
  readonly isHidden?: boolean;
}

/** The names that are visible: variables of macros, innermost last, then those of the environment. */
export class Scopes {
  private readonly env: Environment;
  private readonly locals: Found[] = [];

  constructor(env: Environment) {
    this.env = env;
  }

  /** Runs with more variables. */
  within<T>(variables: readonly Found[], run: () => T): T {
    for (const variable of variables) this.locals.push(variable);
    const result = run();
    this.locals.length -= variables.length;
    return result;
  }

  /** What the parts of a name, joined by dots, stand for as a whole. */
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

  /** The type that a name in front of a literal's brace stands for. */
  findType(name: string): Found | undefined {
    for (const candidate of this.env.candidates(name)) {
      const found = this.findGlobal(candidate);
      if (found !== undefined) return found;
    }
    return undefined;
  }
}
