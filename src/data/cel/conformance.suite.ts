import { tests as conformance } from "@bufbuild/cel-spec/testdata/conformance.js";
import { Environment } from "./environment.ts";
import { stringsLibrary } from "./kubernetes/strings.ts";
import { CompileError, compile, program } from "./program.ts";
import { bindLibrary, twoVariableLibrary } from "./standard/comprehensions.ts";
import type { Overload } from "./standard/library.ts";
import { optionalLibrary } from "./standard/optional.ts";
import { standardLibrary } from "./standard/standard.ts";
import { equal } from "./values/equality.ts";
import { formatValue } from "./values/format.ts";
import { EntryMap } from "./values/maps.ts";
import { parseDuration, parseTimestamp } from "./values/time.ts";
import * as types from "./values/types.ts";
import {
  ArrayList,
  Bytes,
  Double,
  intOf,
  isError,
  NONE,
  Optional,
  TypeValue,
  typeOfValue,
  Uint,
  type Value,
} from "./values/value.ts";

/** JSON of a message in the test vectors. */
type Json = Readonly<Record<string, unknown>>;

/** One test vector, with the path of its suites. */
export interface Vector {
  readonly path: string;
  readonly expr: string;
  readonly test: Json;
}

interface Suite {
  readonly name: string;
  readonly suites?: readonly Suite[];
  readonly tests?: readonly { readonly original: Json & { readonly name?: string; readonly expr: string } }[];
}

function collect(suite: Suite, path: string): Vector[] {
  const own = (suite.tests ?? []).map(({ original }) => {
    return { path: `${path}/${original.name ?? original.expr}`, expr: original.expr, test: original };
  });
  return [...own, ...(suite.suites ?? []).flatMap((inner) => collect(inner, `${path}/${inner.name}`))];
}

/** All conformance vectors of the CEL specification. */
export const vectors: readonly Vector[] =
  (conformance as Suite).suites?.flatMap((suite) => collect(suite, suite.name)) ?? [];

const base = new Environment({
  libraries: [standardLibrary, optionalLibrary, twoVariableLibrary, bindLibrary, stringsLibrary],
});

/** A value or type in a vector that this library does not have, such as a message. */
class Unsupported extends Error {}

/** Why a vector fails. Undefined if it passes. */
export function failureOf({ expr, test }: Vector): string | undefined {
  try {
    return outcome(expr, test);
  } catch (error) {
    if (error instanceof Unsupported) return `unsupported: ${error.message}`;
    throw error;
  }
}

function outcome(expr: string, test: Json): string | undefined {
  const env = environmentOf(test);
  const wantsError = test.evalError !== undefined;
  const checked = compile(expr, env);
  if (checked instanceof CompileError) return wantsError ? undefined : checked.message.split("\n")[0];
  const typed = test.typedResult as Json | undefined;
  if (typed?.deducedType !== undefined) {
    const wanted = typeFrom(typed.deducedType as Json);
    if (!wanted.is(checked.type)) return `type ${checked.type}, not ${wanted}`;
  }
  if (test.checkOnly === true) return undefined;
  const made = program(checked, env);
  if (made instanceof CompileError) return wantsError ? undefined : made.message;
  const bindings = (test.bindings ?? {}) as Record<string, { readonly value: Json }>;
  const values = new Map(Object.entries(bindings).map(([name, { value }]) => [name, valueFrom(value)]));
  const { value } = made.evaluate((name) => values.get(name), 1_000_000);
  if (wantsError) return isError(value) ? undefined : `${formatValue(value)}, not an error`;
  const wanted = (test.value ?? typed?.result) as Json | undefined;
  const expected = wanted === undefined ? true : valueFrom(wanted);
  if (isError(value)) return `error ${value.message}`;
  const isSame = sameType(value, expected) && (equal(value, expected) || bothNaN(value, expected));
  return isSame ? undefined : `${formatValue(value)}, not ${formatValue(expected)}`;
}

const sameType = (a: Value, b: Value) => typeOfValue(a).name === typeOfValue(b).name;
const bothNaN = (a: Value, b: Value) =>
  a instanceof Double && b instanceof Double && Number.isNaN(a.value) && Number.isNaN(b.value);

interface Declaration {
  readonly name: string;
  readonly ident?: { readonly type: Json };
  readonly function?: { readonly overloads: readonly Json[] };
}

function environmentOf(test: Json): Environment {
  const variables: Record<string, types.Type> = {};
  const bindings = Object.keys((test.bindings ?? {}) as Json);
  for (const name of bindings) variables[name] = types.dynType;
  const functions: { readonly name: string; readonly overloads: readonly Overload[] }[] = [];
  for (const declared of (test.typeEnv ?? []) as readonly Declaration[]) {
    if (declared.ident !== undefined) variables[declared.name] = typeFrom(declared.ident.type);
    const overloads = (declared.function?.overloads ?? []).map((overload): Overload => {
      const params = (overload.params ?? []) as readonly Json[];
      const result = typeFrom(overload.resultType as Json);
      return {
        id: String(overload.overloadId),
        args: params.map(typeFrom),
        result,
        isMember: overload.isInstanceFunction === true,
      };
    });
    if (overloads.length > 0) functions.push({ name: declared.name, overloads });
  }
  const container = typeof test.container === "string" ? test.container : "";
  return base.extend({ variables, container, libraries: [{ name: "of the vector", functions }] });
}

const PRIMITIVES: Readonly<Record<string, types.Type>> = {
  BOOL: types.boolType,
  INT64: types.intType,
  UINT64: types.uintType,
  DOUBLE: types.doubleType,
  STRING: types.stringType,
  BYTES: types.bytesType,
};

function typeFrom(json: Json): types.Type {
  const [[kind, inner]] = Object.entries(json) as [[string, unknown]];
  switch (kind) {
    case "primitive":
      return PRIMITIVES[String(inner)] ?? types.dynType;
    case "dyn":
      return types.dynType;
    case "null":
      return types.nullType;
    case "listType":
      return types.listType(typeFrom((inner as { elemType: Json }).elemType));
    case "mapType": {
      const { keyType, valueType } = inner as { readonly keyType: Json; readonly valueType: Json };
      return types.mapType(typeFrom(keyType), typeFrom(valueType));
    }
    case "wellKnown":
      if (inner === "DURATION") return types.durationType;
      if (inner === "TIMESTAMP") return types.timestampType;
      break;
    case "type":
      return types.typeOf(typeFrom(inner as Json));
    case "typeParam":
      return types.paramType(String(inner));
    case "abstractType": {
      const { name, parameterTypes = [] } = inner as { readonly name: string; readonly parameterTypes?: Json[] };
      return types.opaqueType(name, ...parameterTypes.map(typeFrom));
    }
    default:
  }
  throw new Unsupported(`type ${JSON.stringify(json)}`);
}

function valueFrom(json: Json): Value {
  const [[kind, inner]] = Object.entries(json) as [[string, unknown]];
  switch (kind) {
    case "nullValue":
      return null;
    case "boolValue":
    case "stringValue":
      return inner as Value;
    case "int64Value":
      return intOf(BigInt(inner as string));
    case "uint64Value":
      return new Uint(BigInt(inner as string));
    case "doubleValue":
      return new Double(Number(inner));
    case "bytesValue":
      return new Bytes(new Uint8Array(Buffer.from(inner as string, "base64")));
    case "typeValue":
      return new TypeValue(typeNamed(String(inner)));
    case "listValue":
      return new ArrayList((((inner as Json).values ?? []) as readonly Json[]).map(valueFrom));
    case "mapValue": {
      const entries = ((inner as Json).entries ?? []) as readonly { readonly key: Json; readonly value: Json }[];
      return EntryMap.of(entries.map(({ key, value }) => [valueFrom(key), valueFrom(value)]));
    }
    case "objectValue":
      return objectFrom(inner as Json);
    default:
      throw new Unsupported(`value ${kind}`);
  }
}

function typeNamed(name: string): types.Type {
  return (
    { list: types.listType(types.dynType), map: types.mapType(types.dynType, types.dynType) }[name] ??
    new types.Type("struct", name)
  );
}

function objectFrom(json: Json): Value {
  const name = String(json["@type"]).split("/").pop();
  if (name === "google.protobuf.Duration") return parseDuration(String(json.value)) as Value;
  if (name === "google.protobuf.Timestamp") return parseTimestamp(String(json.value)) as Value;
  if (name === "cel.expr.OptionalValue") {
    const value = json.value as Json | undefined;
    return value === undefined ? NONE : new Optional(valueFrom(value));
  }
  throw new Unsupported(`message ${name}`);
}
