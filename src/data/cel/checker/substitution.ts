import { dynType, errorType, isDyn, Type, type TypeKind } from "../values/types.ts";

/** The values of type parameters. A failed assignment is rolled back. */
export class Substitution {
  /** By the number of parameters that the checker created. */
  private readonly fresh: (Type | undefined)[] = [];
  /** All others by name. */
  private readonly named = new Map<string, Type | undefined>();
  private readonly trail: { readonly param: Type; readonly before: Type | undefined }[] = [];

  find(type: Type): Type | undefined {
    if (type.kind !== "param") return undefined;
    return type.index >= 0 ? this.fresh[type.index] : this.named.get(type.name);
  }

  set(param: Type, type: Type): void {
    this.trail.push({ param, before: this.find(param) });
    this.put(param, type);
  }

  private put(param: Type, type: Type | undefined): void {
    if (param.index >= 0) this.fresh[param.index] = type;
    else this.named.set(param.name, type);
  }

  /** Whether the first types are assignable to the second. Rolls back inferred parameters if they are not. */
  fits(a: readonly Type[], b: readonly Type[]): boolean {
    const start = this.trail.length;
    return this.assignAll(a, b) || this.forget(start);
  }

  /** Like `fits`, for one type. */
  fitsOne(a: Type, b: Type): boolean {
    const start = this.trail.length;
    return this.assign(a, b) || this.forget(start);
  }

  private forget(start: number): false {
    for (let i = this.trail.length - 1; i >= start; i--) {
      const { param, before } = this.trail[i] as (typeof this.trail)[number];
      this.put(param, before);
    }
    this.trail.length = start;
    return false;
  }

  /** Replaces known parameters in a type. Unknown ones become dyn if `toDyn`. */
  apply(type: Type, toDyn: boolean): Type {
    if (type.kind === "param") {
      const known = this.find(type);
      if (known !== undefined) return this.apply(known, toDyn);
      return toDyn ? dynType : type;
    }
    if (!type.isGeneric) return type;
    return new Type(
      type.kind,
      type.name,
      type.params.map((param) => this.apply(param, toDyn)),
    );
  }

  /** Whether the first type is assignable to the second. Infers type parameters. */
  private assign(a: Type, b: Type): boolean {
    if (b.kind === "param") {
      const learned = this.learn(a, b);
      if (learned.valid) return true;
      if (learned.wasKnown) return false;
    }
    if (a.kind === "param") return this.learn(b, a).valid;
    if (isWild(a) || isWild(b)) return true;
    if (a.kind === "null") return isNullable(b);
    if (b.kind === "null") return isNullable(a);
    if (a.kind === "type") return b.kind === "type";
    if (a.kind !== b.kind || a.name !== b.name) return false;
    return this.assignAll(a.params, b.params);
  }

  private assignAll(a: readonly Type[], b: readonly Type[]): boolean {
    if (a.length !== b.length) return false;
    for (let i = 0; i < a.length; i++) if (!this.assign(a[i] as Type, b[i] as Type)) return false;
    return true;
  }

  private learn(type: Type, param: Type): { readonly valid: boolean; readonly wasKnown: boolean } {
    if (type.is(param)) return { valid: true, wasKnown: true };
    const known = this.find(param);
    if (known === undefined) {
      if (this.occursIn(param, type)) return { valid: false, wasKnown: false };
      this.set(param, type);
      return { valid: true, wasKnown: false };
    }
    if (type.is(known)) return { valid: true, wasKnown: true };
    if (!this.assign(type, known)) return { valid: false, wasKnown: true };
    const general = mostGeneral(type, known);
    if (!this.occursIn(param, general)) this.set(param, general);
    return { valid: true, wasKnown: true };
  }

  private occursIn(param: Type, type: Type): boolean {
    if (type.is(param)) return true;
    if (type.kind === "param") {
      const known = this.find(type);
      return known !== undefined && this.occursIn(param, known);
    }
    return type.isGeneric && type.params.some((inner) => this.occursIn(param, inner));
  }
}

/** A quick check whether types may be assignable, without their parameters. Rules out most overloads of an operator. */
export function mayFit(a: readonly Type[], b: readonly Type[]): boolean {
  if (a.length !== b.length) return false;
  for (let i = 0; i < a.length; i++) if (!mayFitOne(a[i] as Type, b[i] as Type)) return false;
  return true;
}

function mayFitOne(a: Type, b: Type): boolean {
  if (a.kind === b.kind) return a.kind === "type" || a.name === b.name || a.kind === "param" || isWild(a);
  return OPEN.has(a.kind) || OPEN.has(b.kind);
}

const OPEN: ReadonlySet<string> = new Set<TypeKind>(["param", "dyn", "error", "null"]);

/** Whether the type is dyn or that of an expression with an error. */
export const isWild = (type: Type): boolean => isDyn(type) || type === errorType || type.kind === "error";

const isNullable = (type: Type) =>
  type.kind === "null" ||
  type.kind === "opaque" ||
  type.kind === "struct" ||
  type.kind === "duration" ||
  type.kind === "timestamp";

/** The more general of two types that are assignable to each other. */
export function mostGeneral(a: Type, b: Type): Type {
  return isEqualOrLessSpecific(a, b) ? a : b;
}

function isEqualOrLessSpecific(a: Type, b: Type): boolean {
  if (isDyn(a) || a.kind === "param") return true;
  if (isDyn(b) || b.kind === "param" || a.kind !== b.kind) return false;
  if (a.kind === "type") return true;
  return (
    a.name === b.name &&
    a.params.length === b.params.length &&
    a.params.every((param, i) => isEqualOrLessSpecific(param, b.params[i] as Type))
  );
}
