import {
  duplicateField,
  type FieldError,
  forbiddenField,
  invalidField,
  notSupportedField,
  requiredField,
  tooLongField,
  tooManyCharactersField,
  tooManyField,
} from "../../../base/api/field-error.ts";
import { byteLength } from "../../../base/api/names.ts";
import { isObject, type Json, type JsonObject, type KubeObject } from "../../../base/api/object.ts";
import { addAll } from "../../../base/util/add-all.ts";
import { isNumber } from "../../../base/util/exact-integer.ts";
import { seenBefore } from "../../../base/util/seen-before.ts";
import type { Schema } from "../../../data/schema/schema.ts";
import type { ResourceHooks } from "../../../resources/model/definition.ts";
import { builtInSchema } from "../../schema-files/built-in-schemas.ts";
import { type FormatName, formatErrors } from "./declared-formats.ts";
import { IMMUTABLE, sameValue } from "./immutable.ts";

/** Changes that an update must not make to a field: `+k8s:update` of declarative validation. */
export type NoUpdate = "set" | "unset" | "modify" | "add-item" | "remove-item";

/**
 * Declarative validation of one field. Checks other than `required` apply to values that are set. Checks that end the
 * validation of a field when they fail (forbidden, immutable, maxItems, required, no) run in the order of the rules.
 */
export interface FieldRules {
  readonly required?: true;
  readonly forbidden?: true;
  readonly immutable?: true;
  readonly no?: readonly NoUpdate[];
  readonly format?: FormatName;
  readonly minimum?: number;
  readonly maximum?: number;
  /** An update must not decrease the number. */
  readonly monotonic?: true;
  /** In characters. */
  readonly maxLength?: number;
  readonly maxBytes?: number;
  readonly maxItems?: number;
  /** The schema lists all allowed values. */
  readonly closed?: true;
  /** Fields that together identify an item of a list, and must be unique. */
  readonly keys?: readonly string[];
  /** Items of the list must be unique. */
  readonly isSet?: true;
  /** Format of the keys of a map. */
  readonly eachKey?: FormatName;
  /** Rules for each item of a list of scalars. */
  readonly eachItem?: FieldRules;
}

/** Declarative validation of one named type. */
export interface StructRules {
  /** Exactly one of these fields must be set. */
  readonly union?: readonly string[];
  readonly fields?: Readonly<Record<string, FieldRules>>;
}

/** Declarative validation (KEP-5073) by the name of the type, without its package. */
export type DeclaredRules = Readonly<Record<string, StructRules>>;

/**
 * Returns the errors of an object of this schema; `previous` is the object that an update replaces. Both are decoded.
 */
export type DeclaredCheck = (schema: Schema, next: JsonObject, previous: JsonObject | undefined) => FieldError[];

/** A value to validate. */
interface Place {
  readonly path: string;
  readonly value: Json | undefined;
  /** The value it replaces; undefined if there was none, also for new items of lists. */
  readonly old: Json | undefined;
  readonly isUpdate: boolean;
}

type Check = (errors: FieldError[], place: Place) => void;

/**
 * Declarative validation: rules next to the fields of a schema. They run in the order of the fields, in the version of
 * the request, after all other checks. Unchanged values of an update are not validated again.
 */
export function declared(rules: DeclaredRules): DeclaredCheck {
  const structs = new Map<string, Check | undefined>();
  return (schema, next, previous) => {
    const errors: FieldError[] = [];
    const place = { path: "", value: next, old: previous, isUpdate: previous !== undefined };
    structCheck(structs, rules, schema)?.(errors, place);
    return errors;
  };
}

/**
 * Declarative validation of a built-in kind as a hook, in the version of the request. `componentOf` returns the type
 * name of the kind in a version; `convert` is needed if types differ between versions.
 */
export function declaredHook(
  rules: DeclaredRules,
  componentOf: (version: string) => string,
  convert?: ResourceHooks["convert"],
): NonNullable<ResourceHooks["validate"]> {
  const check = declared(rules);
  return (next, previous, { apiVersion }) => {
    const spoken = (object: KubeObject) =>
      convert && object.apiVersion !== apiVersion ? convert(object, apiVersion) : object;
    const schema = builtInSchema(componentOf(apiVersion.slice(apiVersion.indexOf("/") + 1)));
    return check(schema, spoken(next), previous && spoken(previous));
  };
}

function structCheck(structs: Map<string, Check | undefined>, rules: DeclaredRules, schema: Schema): Check | undefined {
  const { component = "", properties = new Map<string, Schema>() } = schema;
  if (structs.has(component)) return structs.get(component);
  const checks: Check[] = [];
  // A type may contain itself, so it is registered before its fields.
  structs.set(component, (errors, place) => {
    for (const check of checks) check(errors, place);
  });
  const { union, fields } = rules[component.slice(component.lastIndexOf(".") + 1)] ?? {};
  if (union) checks.push(unionCheck(union));
  for (const [name, field] of properties) {
    const check = fieldCheck(structs, rules, field, fields?.[name]);
    if (check) checks.push(memberCheck(name, check));
  }
  if (checks.length === 0) structs.set(component, undefined);
  return structs.get(component);
}

function memberCheck(name: string, check: Check): Check {
  return (errors, { path, value, old, isUpdate }) => {
    const next = isObject(value) ? (value[name] ?? undefined) : undefined;
    const before = isObject(old) ? (old[name] ?? undefined) : undefined;
    if (isUpdate && isObject(old) && sameValue(next, before)) return;
    check(errors, { path: path === "" ? name : `${path}.${name}`, value: next, old: before, isUpdate });
  };
}

/** Whether a value is set: an empty string, number, list or map is not where kube-apiserver cannot distinguish it. */
function isSet(value: Json | undefined): boolean {
  if (value === undefined || value === null || value === "" || value === 0 || value === false) return false;
  return !Array.isArray(value) || value.length > 0;
}

function unionCheck(members: readonly string[]): Check {
  const names = members.map((member) => `\`${member}\``).join(", ");
  const chosen = (value: Json | undefined) =>
    members.filter((member) => {
      const found = isObject(value) ? value[member] : undefined;
      return found !== undefined && found !== null && !(Array.isArray(found) && found.length === 0);
    });
  return (errors, { path, value, old, isUpdate }) => {
    const set = chosen(value);
    if (isUpdate && isObject(old) && set.join() === chosen(old).join()) return;
    if (set.length > 1) errors.push(invalidField(path, `{${set.join(", ")}}`, `must specify exactly one of: ${names}`));
    if (set.length === 0) errors.push(invalidField(path, "", `must specify one of: ${names}`));
  };
}

function fieldCheck(
  structs: Map<string, Check | undefined>,
  rules: DeclaredRules,
  schema: Schema,
  field: FieldRules | undefined,
): Check | undefined {
  const inner = innerCheck(structs, rules, schema, field);
  if (!field) return inner;
  // If the type distinguishes zero and absent, zero is a value like any other.
  const isThere = schema.zero === undefined ? (value: Json | undefined) => value !== undefined : isSet;
  const stops = (Object.keys(field) as (keyof FieldRules)[]).flatMap((rule) => STOPS[rule] ?? []);
  return (errors, place) => {
    const before = errors.length;
    const stated = { ...place, isThere: isThere(place.value) };
    for (const stop of stops) stop(errors, stated, field);
    if (errors.length > before || !stated.isThere) return;
    scalarErrors(errors, place, field, schema);
    inner?.(errors, place);
  };
}

type Stop = (errors: FieldError[], place: Place & { readonly isThere: boolean }, field: FieldRules) => void;

/** Checks that end the validation of a field when they fail. They run in the order of the rules. */
const STOPS: Readonly<Partial<Record<keyof FieldRules, Stop>>> = {
  forbidden(errors, { path, isThere }) {
    if (isThere) errors.push(forbiddenField(path, ""));
  },
  immutable(errors, { path, isUpdate }) {
    // Compat: validate.Immutable of declarative validation shows no value.
    if (isUpdate) errors.push({ ...invalidField(path, null, IMMUTABLE), hidesValue: true });
  },
  maxItems(errors, { path, value }, { maxItems = 0 }) {
    if (Array.isArray(value) && value.length > maxItems) errors.push(tooManyField(path, value.length, maxItems));
  },
  required(errors, { path, isThere }) {
    if (!isThere) errors.push(requiredField(path));
  },
  no(errors, place, field) {
    if (place.isUpdate) updateErrors(errors, place, field);
  },
};

const UPDATE_TEXTS: Readonly<Record<"set" | "unset" | "modify", string>> = {
  set: "field cannot be set once created",
  unset: "field cannot be cleared once set",
  modify: "field cannot be modified once set",
};

function updateErrors(errors: FieldError[], { path, value, old }: Place, { no = [], keys }: FieldRules): void {
  const [next, before] = [listOf(value), listOf(old)];
  for (const change of no) {
    if (change === "add-item") {
      const find = finder(before, keys);
      for (const [index, item] of next.entries()) {
        if (!find(item)) errors.push(forbiddenField(`${path}[${index}]`, "item may not be added"));
      }
    } else if (change === "remove-item") {
      const find = finder(next, keys);
      for (const item of before) {
        if (find(item)) continue;
        errors.push({ ...forbiddenField(path, "item may not be removed"), isRepeated: true });
      }
    } else {
      const [is, was] = [value !== undefined, old !== undefined];
      const happened = change === "set" ? is && !was : change === "unset" ? was && !is : is && was;
      if (happened) errors.push(invalidField(path, null, UPDATE_TEXTS[change]));
    }
  }
}

function scalarErrors(errors: FieldError[], { path, value, old }: Place, field: FieldRules, schema: Schema): void {
  if (isNumber(value)) {
    const { minimum = value, maximum = value } = field;
    if (value > maximum) errors.push(invalidField(path, value, `must be less than or equal to ${maximum}`));
    if (value < minimum) errors.push(invalidField(path, value, `must be greater than or equal to ${minimum}`));
    if (field.monotonic && isNumber(old) && value < old) {
      errors.push(invalidField(path, value, `may not be decreased from ${old}`));
    }
  } else if (typeof value === "string") {
    if (field.format) addAll(errors, formatErrors(field.format, value, path));
    if (byteLength(value) > (field.maxBytes ?? Number.POSITIVE_INFINITY)) {
      errors.push(tooLongField(path, field.maxBytes ?? 0));
    }
    if (field.maxLength !== undefined && [...value].length > field.maxLength) {
      errors.push(tooManyCharactersField(path, field.maxLength));
    }
    if (field.closed) addAll(errors, closedErrors(path, value, schema));
  } else if (field.eachKey && isObject(value)) {
    for (const key of Object.keys(value)) addAll(errors, formatErrors(field.eachKey, key, path));
  }
}

function closedErrors(path: string, value: string, { enum: values = [] }: Schema): FieldError[] {
  const texts = values.filter((one) => typeof one === "string");
  return texts.includes(value) ? [] : [notSupportedField(path, value, texts.toSorted())];
}

/** What to validate inside a value: the fields of a type, the items of a list or the values of a map. */
function innerCheck(
  structs: Map<string, Check | undefined>,
  rules: DeclaredRules,
  schema: Schema,
  field: FieldRules | undefined,
): Check | undefined {
  const { items, values } = schema;
  if (items) {
    const each = field?.eachItem
      ? fieldCheck(structs, rules, items, field.eachItem)
      : structCheckOf(structs, rules, items);
    return each || field?.keys || field?.isSet ? listCheck(each, field, items) : undefined;
  }
  if (values !== undefined && values !== true) {
    const each = structCheckOf(structs, rules, values);
    return each && mapCheck(each);
  }
  const check = structCheckOf(structs, rules, schema);
  if (!check) return undefined;
  // A struct without omitempty is present even if the client did not send it.
  return (errors, place) => {
    if (place.value !== undefined || schema.zero !== undefined) check(errors, place);
  };
}

function structCheckOf(
  structs: Map<string, Check | undefined>,
  rules: DeclaredRules,
  schema: Schema,
): Check | undefined {
  return schema.component === undefined || schema.wire !== undefined ? undefined : structCheck(structs, rules, schema);
}

function listCheck(each: Check | undefined, field: FieldRules | undefined, items: Schema): Check {
  const isKeyed = field?.keys !== undefined || field?.isSet === true;
  return (errors, { path, value, old, isUpdate }) => {
    const [next, before] = [listOf(value), listOf(old)];
    if (field?.keys) addAll(errors, duplicates(next, path, field.keys, items));
    const find = isKeyed ? finder(before, field?.keys) : undefined;
    for (const [index, item] of each ? next.entries() : []) {
      const was = find?.(item);
      if (isUpdate && was !== undefined && sameValue(item, was)) continue;
      each?.(errors, { path: `${path}[${index}]`, value: item, old: was, isUpdate });
    }
    if (field?.isSet) addAll(errors, duplicates(next, path, undefined, items));
  };
}

function mapCheck(each: Check): Check {
  return (errors, { path, value, old, isUpdate }) => {
    const before = isObject(old) ? old : {};
    for (const [key, member] of Object.entries(isObject(value) ? value : {})) {
      const was = Object.hasOwn(before, key) ? before[key] : undefined;
      if (isUpdate && was !== undefined && sameValue(member, was)) continue;
      each(errors, { path: `${path}[${key}]`, value: member, old: was, isUpdate });
    }
  };
}

const listOf = (value: Json | undefined): readonly Json[] => (Array.isArray(value) ? value : []);

/** The identity of an item in its list; undefined for an item that equals no other. */
function identityOf(item: Json, keys: readonly string[] | undefined): Json | undefined {
  if (!keys) return item;
  if (!isObject(item)) return undefined;
  const values = keys.map((key) => item[key] ?? "");
  return values.some(isObject) ? undefined : JSON.stringify(values);
}

/** Returns a function that finds the first item of the list with the same identity. */
function finder(list: readonly Json[], keys: readonly string[] | undefined): (item: Json) => Json | undefined {
  const items = new Map<Json | undefined, Json>();
  for (const item of list.toReversed()) items.set(identityOf(item, keys), item);
  items.delete(undefined);
  return (item) => items.get(identityOf(item, keys));
}

function duplicates(
  list: readonly Json[],
  path: string,
  keys: readonly string[] | undefined,
  schema: Schema,
): FieldError[] {
  const isSecond = seenBefore<Json>();
  return list.flatMap((item, index) => {
    const identity = identityOf(item, keys);
    if (identity === undefined || !isSecond(identity)) return [];
    return [duplicateField(`${path}[${index}]`, inOrder(item, schema))];
  });
}

/** A value with its fields in the order in which kube-apiserver prints them, regardless of added defaults. */
function inOrder(value: Json, { properties, items }: Schema): Json {
  if (Array.isArray(value)) return items ? value.map((item) => inOrder(item, items)) : value;
  if (!isObject(value) || !properties) return value;
  const ordered: JsonObject = {};
  for (const [name, field] of properties) {
    const member = value[name];
    if (member !== undefined) ordered[name] = inOrder(member, field);
  }
  return ordered;
}
