import { MAX_ERRORS } from "../../../base/api/field-error.ts";
import { isObject, type Json, type JsonObject } from "../../../base/api/object.ts";
import { isNumber } from "../../../base/util/exact-integer.ts";
import { describeElement, type PathElement } from "./path-element.ts";
import type { ListShape, MapShape, ScalarShape, Shape } from "./shape.ts";
import { deduce, isScalar, itemElement, memberShape, TypedError } from "./typed.ts";

/**
 * Throws TypedError with the message of kube-apiserver, including the path, if the object does not match the shape:
 * undeclared fields, wrong types, or duplicate list keys unless these are allowed.
 */
export function requireShape(shape: Shape, object: JsonObject, allowsDuplicates = false): void {
  const errors: string[] = [];
  check(shape, object, undefined, { errors, allowsDuplicates });
  if (errors.length === 1) throw new TypedError(errors[0]);
  if (errors.length > 1) throw new TypedError(["errors:", ...errors.map((text) => `  ${text}`)].join("\n"));
}

/** The errors of a check, and how strict it is. */
interface Findings {
  readonly errors: string[];
  readonly allowsDuplicates: boolean;
}

/** The path to a value. Its text is created only for an error. */
interface Place {
  readonly outer: Place | undefined;
  /** A field, an index, or the element of an item. */
  readonly step: string | number;
  readonly isElement: boolean;
}

function printPlace(place: Place | undefined): string {
  if (place === undefined) return "";
  const { outer, step, isElement } = place;
  const own = typeof step === "number" ? `[${step}]` : isElement ? describeElement(step) : `.${step}`;
  return `${printPlace(outer)}${own}`;
}

const prefixOf = (place: Place | undefined): string => (place === undefined ? "" : `${printPlace(place)}: `);

function check(shape: Shape, value: Json, path: Place | undefined, findings: Findings): void {
  const { errors } = findings;
  if (errors.length >= MAX_ERRORS) return;
  const report = (text: string): void => {
    errors.push(`${prefixOf(path)}${text}`);
  };
  const { map, scalar, list } = deduce(shape, value);
  if (value === null) return;
  if (map !== undefined) {
    if (isObject(value)) checkMembers(map, value, path, findings);
    else report(`expected map, got ${showPointer(value)}`);
  } else if (scalar !== undefined) {
    const text = scalarError(scalar, value);
    if (text !== undefined) report(text);
  } else if (list !== undefined) {
    if (Array.isArray(value)) checkItems(list, value, path, findings);
    else report(`expected list, got ${showPointer(value)}`);
  }
}

function checkMembers(map: MapShape, value: JsonObject, path: Place | undefined, findings: Findings): void {
  for (const name of Object.keys(value)) {
    const member = value[name];
    if (member === undefined) continue;
    const below = memberShape(map, name);
    if (below === undefined) {
      findings.errors.push(`${printPlace(path)}.${name}: field not declared in schema`);
      return;
    }
    check(below, member, { outer: path, step: name, isElement: false }, findings);
  }
}

function checkItems(list: ListShape, value: readonly Json[], path: Place | undefined, findings: Findings): void {
  const { errors, allowsDuplicates } = findings;
  const seen = new Set<PathElement>();
  for (const [i, item] of value.entries()) {
    if (errors.length >= MAX_ERRORS) return;
    if (list.isAtomic) {
      check(list.items(), item, { outer: path, step: i, isElement: false }, findings);
      continue;
    }
    let element: PathElement;
    try {
      element = itemElement(list, item, false);
    } catch (error) {
      if (!(error instanceof TypedError)) throw error;
      errors.push(`${prefixOf(path)}element ${i}: ${error.message}`);
      return;
    }
    if (seen.has(element) && !allowsDuplicates) {
      errors.push(`${prefixOf(path)}duplicate entries for key ${describeElement(element)}`);
    }
    seen.add(element);
    check(list.items(), item, { outer: path, step: element, isElement: true }, findings);
  }
}

function scalarError(scalar: ScalarShape, value: Json): string | undefined {
  switch (scalar) {
    case "numeric":
      if (isNumber(value)) return undefined;
      return `expected numeric (int or float), got ${typeName(value)}`;
    case "string":
      if (typeof value === "string") return undefined;
      return `expected string, got &value.valueUnstructured{Value:${showSource(value)}}`;
    case "boolean":
      return typeof value === "boolean" ? undefined : `expected boolean, got ${showPointer(value)}`;
    default:
      return isScalar(value) ? undefined : `expected any scalar, got ${showPointer(value)}`;
  }
}

// Compat: messages of structured-merge-diff print values like Go's `fmt` with %T, %v and %#v.
function typeName(value: Json): string {
  if (value === null) return "<nil>";
  if (Array.isArray(value)) return "[]interface {}";
  if (typeof value === "object") return isObject(value) ? "map[string]interface {}" : "int64";
  return typeof value === "boolean" ? "bool" : typeof value;
}

function showPointer(value: Json): string {
  return `&{${show(value)}}`;
}

function sortedEntries(value: JsonObject): [string, Json][] {
  return Object.keys(value)
    .sort()
    .map((name) => [name, value[name] ?? null]);
}

function show(value: Json): string {
  if (value === null) return "<nil>";
  if (Array.isArray(value)) return `[${value.map(show).join(" ")}]`;
  if (isObject(value)) {
    return `map[${sortedEntries(value)
      .map(([name, member]) => `${name}:${show(member)}`)
      .join(" ")}]`;
  }
  return typeof value === "string" ? value : showNumber(value);
}

function showSource(value: Json): string {
  if (value === null) return "interface {}(nil)";
  if (Array.isArray(value)) return `[]interface {}{${value.map(showSource).join(", ")}}`;
  if (isObject(value)) {
    return `map[string]interface {}{${sortedEntries(value)
      .map(([name, member]) => `${JSON.stringify(name)}:${showSource(member)}`)
      .join(", ")}}`;
  }
  return typeof value === "string" ? JSON.stringify(value) : showNumber(value);
}

/** Integers plain; other numbers with an exponent from 1e+06 on, like %v. */
function showNumber(value: Json): string {
  if (typeof value !== "number" || Number.isInteger(value)) return JSON.stringify(value);
  const [digits = "", power = "0"] = value.toExponential().split("e");
  const exponent = Number(power);
  if (exponent >= -4 && exponent < 6) return String(value);
  return `${digits}e${exponent < 0 ? "-" : "+"}${String(Math.abs(exponent)).padStart(2, "0")}`;
}
