import type { Call, Expr } from "./ast.ts";
import { Builder, isRefusal, type Macro, macroKey } from "./macro.ts";
import { type SourceError, UNREAD } from "./source.ts";

/** The node for an expression that could not be parsed. */
export const BROKEN: Expr = { kind: "broken", at: UNREAD };

/** Creates calls, expands macros (by their `macroKey`), and collects errors. */
export class Assembler {
  readonly errors: SourceError[] = [];
  private readonly macros: ReadonlyMap<string, Macro>;

  constructor(macros: ReadonlyMap<string, Macro>) {
    this.macros = macros;
  }

  refuse(at: number, message: string): Expr {
    this.errors.push({ at, message });
    return { kind: "broken", at };
  }

  plainCall(at: number, name: string, args: readonly Expr[]): Call {
    return { kind: "call", at, name, target: undefined, args };
  }

  call(at: number, name: string, args: readonly Expr[]): Expr {
    return this.expanded(at, name, args, undefined) ?? this.plainCall(at, name, args);
  }

  memberCall(at: number, name: string, target: Expr, args: readonly Expr[]): Expr {
    return this.expanded(at, name, args, target) ?? { kind: "call", at, name, target, args };
  }

  private expanded(at: number, name: string, args: readonly Expr[], target: Expr | undefined): Expr | undefined {
    const macro = this.macros.get(macroKey(name, args.length, target !== undefined));
    const result = macro?.expand(new Builder(at), args, target ?? BROKEN);
    if (result === undefined) return undefined;
    return isRefusal(result) ? this.refuse(result.at, result.message) : result;
  }
}
