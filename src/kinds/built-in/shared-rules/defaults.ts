import { isObject, type Json, type JsonObject, type KubeObject } from "../../../base/api/object.ts";
import { cloneJson } from "../../../base/util/clone.ts";
import type { Schema } from "../../../data/schema/schema.ts";

/**
 * Default values by path: `spec.type` is set if `spec` exists and has no `type`; `spec.ports[*].protocol` in every item
 * of the list. A default replaces absent, null, an empty list and, unless the schema distinguishes it from absent, an
 * empty string.
 */
export type Defaults = Readonly<Record<string, Json>>;

type Step = { readonly member: string; readonly each: boolean };

interface CompiledDefault {
  readonly context: readonly Step[];
  readonly member: string;
  readonly value: Json;
  /** An empty string is a value like any other. */
  readonly keepsEmpty: boolean;
}

/** Returns a function that sets Defaults, in the order given, so that later ones may depend on earlier ones. */
export function defaultsOf(defaults: Defaults, schema?: Schema): (object: KubeObject) => void {
  const compiled = Object.entries(defaults).map(([path, value]) => compile(path, value, schema));
  return (object) => {
    for (const one of compiled) fill(object, one, 0);
  };
}

function compile(path: string, value: Json, schema: Schema | undefined): CompiledDefault {
  const steps = path.split(".").map((step) => {
    const each = step.endsWith("[*]");
    return { member: each ? step.slice(0, -3) : step, each };
  });
  const last = steps.pop();
  const member = last?.member ?? "";
  const parent = steps.reduce<Schema | undefined>((at, step) => {
    const next = at?.properties?.get(step.member);
    return step.each ? next?.items : next;
  }, schema);
  const field = parent?.properties?.get(member);
  return { context: steps, member, value, keepsEmpty: field !== undefined && field.zero === undefined };
}

function fill(object: JsonObject, one: CompiledDefault, depth: number): void {
  const step = one.context[depth];
  if (step === undefined) {
    const present = object[one.member];
    const isEmpty = (Array.isArray(present) && present.length === 0) || (present === "" && !one.keepsEmpty);
    const isAbsent = present === undefined || present === null || isEmpty;
    if (isAbsent) object[one.member] = cloneJson(one.value);
    return;
  }
  const next = object[step.member];
  if (!step.each) {
    if (isObject(next)) fill(next, one, depth + 1);
    return;
  }
  if (Array.isArray(next)) for (const item of next) if (isObject(item)) fill(item, one, depth + 1);
}
