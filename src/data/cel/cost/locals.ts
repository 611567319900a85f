import type { Expr } from "../parser/ast.ts";
import { lengthOf } from "../values/text.ts";
import { type Type, unwrapOptional } from "../values/types.ts";
import { Bytes } from "../values/value.ts";
import { fixed, type Range } from "./sizes.ts";

/** The sizes of keys (or indices) and values in a container that an expression creates. */
export interface EntrySizes {
  readonly kind: "list" | "map";
  readonly key: Range;
  readonly value: Range;
}

/** What is known about a variable of a comprehension. */
export interface Local {
  readonly path: readonly string[];
  readonly size: Range | undefined;
  readonly entries?: EntrySizes | undefined;
}

/** The visible variables of comprehensions, innermost last. */
export class Locals {
  private readonly stack: { readonly name: string; readonly local: Local }[] = [];

  get depth(): number {
    return this.stack.length;
  }

  push(name: string, local: Local): void {
    this.stack.push({ name, local });
  }

  /** Removes the variables above this depth. */
  cut(depth: number): void {
    this.stack.length = depth;
  }

  find(name: string): Local | undefined {
    for (let i = this.stack.length - 1; i >= 0; i--) {
      const entry = this.stack[i] as (typeof this.stack)[number];
      if (entry.name === name) return entry.local;
    }
    return undefined;
  }
}

/** The size of a literal. */
export function literalSize(expr: Expr): Range | undefined {
  switch (expr.kind) {
    case "list":
      return fixed(expr.elements.length);
    case "map":
      return fixed(expr.entries.length);
    case "literal":
      if (typeof expr.value === "string") return fixed(lengthOf(expr.value));
      return fixed(expr.value instanceof Bytes ? expr.value.data.length : 1);
    default:
      return undefined;
  }
}

const SCALARS = new Set<Type["kind"]>(["bool", "double", "duration", "int", "timestamp", "uint"]);

/** 1 for scalar types. Undefined for others. */
export function typeSize(type: Type): Range | undefined {
  const inner = unwrapOptional(type);
  if (inner !== undefined) return typeSize(inner);
  return SCALARS.has(type.kind) ? fixed(1) : undefined;
}
