import { dynType, errorType, isDyn, Type } from "../values/types.ts";

/** What type parameters stand for. What a failed assignment has learned is forgotten again. */
export class Substitution {
  private readonly known = new Map<string, Type>();
  private readonly trail: { readonly name: string; readonly before: Type | undefined }[] = [];

  find(type: Type): Type | undefined {
    return type.kind === "param" ? this.known.get(type.name) : undefined;
  }

  set(param: Type, type: Type): void {
    this.trail.push({ name: param.name, before: this.known.get(param.name) });
    this.known.set(param.name, type);
  }

  /** Runs, and forgets what was learned meanwhile if the result is false. */
  attempt(run: () => boolean): boolean {
    const start = this.trail.length;
    if (run()) return true;
    for (let i = this.trail.length - 1; i >= start; i--) {
      const { name, before } = this.trail[i] as (typeof this.trail)[number];
      if (before === undefined) this.known.delete(name);
      else this.known.set(name, before);
    }
    this.trail.length = start;
    return false;
  }

  /** The type without parameters that are known; the others become dyn if `toDyn`. */
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

  /** Whether the first type is assignable to the second; learns what parameters stand for. */
  assign(a: Type, b: Type): boolean {
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

  /** Whether each of the first types is assignable to that of the second at its place. */
  assignAll(a: readonly Type[], b: readonly Type[]): boolean {
    return a.length === b.length && a.every((type, i) => this.assign(type, b[i] as Type));
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

/** Whether it is dyn or the type of something that was refused already. */
export const isWild = (type: Type): boolean => isDyn(type) || type === errorType || type.kind === "error";

const isNullable = (type: Type) =>
  type.kind === "null" ||
  type.kind === "opaque" ||
  type.kind === "struct" ||
  type.kind === "duration" ||
  type.kind === "timestamp";

/** The more general of two types that fit each other. */
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
