import type { PublishedSchema } from "./sources.ts";

/** What Go and protobuf say about one field of a component. */
export interface FieldFacts {
  /** Field numbers from the outermost embedded message to the field itself; empty: not in the binary form. */
  readonly path: readonly number[];
  readonly isPointer: boolean;
  readonly omitEmpty: boolean;
  readonly omitZero: boolean;
  /** A list or the lists of a map are messages of their own in the binary form. */
  readonly isWrapped: boolean;
}

/** The compact form of one component. Documented in docs/internals/decisions/0002-schemas.md. */
export type CompactComponent = Record<string, unknown>;

/** Enum values of a field, of its items, or of the values of a map. */
export type EnumFacts = readonly string[] | { readonly items?: readonly string[]; readonly values?: readonly string[] };

const REF = "#/components/schemas/";
const SCALARS: Readonly<Record<string, string>> = {
  "string:": "string",
  "string:byte": "bytes",
  "string:date-time": "time",
  "integer:int32": "int32",
  "integer:int64": "int64",
  "integer:": "integer",
  "number:double": "double",
  "boolean:": "bool",
  "object:": "object",
};
const ZERO: Readonly<Record<string, unknown>> = { string: "", int32: 0, int64: 0, double: 0, bool: false };
const FACTS: readonly (readonly [published: `x-kubernetes-${string}`, compact: string])[] = [
  ["x-kubernetes-list-type", "list"],
  ["x-kubernetes-list-map-keys", "keys"],
  ["x-kubernetes-map-type", "map"],
  ["x-kubernetes-patch-strategy", "patch"],
  ["x-kubernetes-patch-merge-key", "mergeKey"],
];
const WIRE_FORMS: Readonly<Record<string, string>> = {
  "io.k8s.apimachinery.pkg.api.resource.Quantity": "quantity",
  "io.k8s.apimachinery.pkg.util.intstr.IntOrString": "int-or-string",
  "io.k8s.apimachinery.pkg.apis.meta.v1.Time": "time",
  "io.k8s.apimachinery.pkg.apis.meta.v1.MicroTime": "micro-time",
  "io.k8s.apimachinery.pkg.apis.meta.v1.Duration": "duration",
  "io.k8s.apimachinery.pkg.apis.meta.v1.FieldsV1": "raw-json",
  "io.k8s.apimachinery.pkg.runtime.RawExtension": "raw-json",
  "io.k8s.apiextensions-apiserver.pkg.apis.apiextensions.v1.JSON": "raw-json",
  "io.k8s.apiextensions-apiserver.pkg.apis.apiextensions.v1.JSONSchemaPropsOrBool": "schema-or-bool",
  "io.k8s.apiextensions-apiserver.pkg.apis.apiextensions.v1.JSONSchemaPropsOrArray": "schema-or-array",
  "io.k8s.apiextensions-apiserver.pkg.apis.apiextensions.v1.JSONSchemaPropsOrStringArray": "schema-or-string-array",
};
/** What stands in a value that may also be a list, text or a truth value: fields when it is an object, items when a list. */
const ALTERNATIVES: Readonly<Record<string, CompactComponent>> = {
  "schema-or-bool": { like: ".JSONSchemaProps" },
  "schema-or-array": { like: ".JSONSchemaProps", items: ".JSONSchemaProps" },
  "schema-or-string-array": { like: ".JSONSchemaProps", items: "string" },
};
const PER_DOCUMENT_KINDS = ["DeleteOptions", "WatchEvent"];

/** Whether a component's binary form does not follow from its fields. */
export function wireFormOf(component: string): string | undefined {
  return WIRE_FORMS[component];
}

/** `io.k8s.api.core.v1.Pod` → `io.k8s.api.core.v1`, `Pod`. */
export function splitName(component: string): readonly [componentPackage: string, name: string] {
  const dot = component.lastIndexOf(".");
  return [component.slice(0, dot), component.slice(dot + 1)];
}

/** Writes one published component in the compact form. Fields come in the order of `facts`, then by name. */
export function projectComponent(
  component: string,
  published: PublishedSchema,
  facts: ReadonlyMap<string, FieldFacts>,
  enums: Readonly<Record<string, EnumFacts>>,
): CompactComponent {
  const [componentPackage, name] = splitName(component);
  const result: CompactComponent = {};
  const wire = wireFormOf(component);
  if (wire !== undefined) Object.assign(result, { wire }, ALTERNATIVES[wire]);
  if (published.type !== undefined && (published.type !== "object" || published.properties === undefined)) {
    result.type = published.type;
  }
  if (published.format !== undefined) result.format = published.format;
  if (published.oneOf !== undefined) result.oneOf = published.oneOf.map((one) => one.type);
  const kinds = published["x-kubernetes-group-version-kind"] as
    | { group: string; version: string; kind: string }[]
    | undefined;
  if (kinds !== undefined && !PER_DOCUMENT_KINDS.includes(name)) {
    result.kinds = kinds.map((kind) => [kind.group, kind.version, kind.kind]);
  }
  if (published["x-kubernetes-map-type"] !== undefined) result.map = published["x-kubernetes-map-type"];
  if (published["x-kubernetes-unions"] !== undefined) result.unions = published["x-kubernetes-unions"];
  if (published.required !== undefined) result.required = published.required;
  const properties = published.properties;
  if (properties === undefined) return result;
  const order = [...facts.keys(), ...Object.keys(properties).sort()].filter((field) => field in properties);
  const fields: Record<string, unknown> = {};
  for (const field of new Set(order)) {
    const schema = properties[field];
    if (schema !== undefined) fields[field] = projectField(componentPackage, schema, facts.get(field), enums[field]);
  }
  result.fields = fields;
  return result;
}

function projectField(
  componentPackage: string,
  schema: PublishedSchema,
  facts: FieldFacts | undefined,
  enums: EnumFacts | undefined,
): unknown {
  const type = typeText(componentPackage, schema, facts?.isWrapped ?? false);
  const zero = zeroOf(type, facts);
  const path = facts === undefined || facts.path.length === 0 ? "" : `${facts.path.join(".")} `;
  const is = `${path}${zero === undefined ? "*" : ""}${type}${zero === "written" ? "!" : ""}`;
  const extra: Record<string, unknown> = {};
  for (const [from, to] of FACTS) if (schema[from] !== undefined) extra[to] = schema[from];
  Object.assign(extra, enumFacts(enums ?? schema.enum));
  const implied = zero === "written" ? impliedDefault(componentPackage, type) : undefined;
  if (JSON.stringify(schema.default) !== JSON.stringify(implied)) extra.default = schema.default ?? null;
  return Object.keys(extra).length === 0 ? is : { is, ...extra };
}

function enumFacts(enums: EnumFacts | undefined): Record<string, unknown> {
  if (enums === undefined) return {};
  if (isList(enums)) return { enum: enums };
  return { elementEnum: enums.items ?? enums.values };
}

const isList = (enums: EnumFacts): enums is readonly string[] => Array.isArray(enums);

/** What Go's JSON encoder does with a zero value: leaves it out, writes it, or (pointers) has no such notion. */
function zeroOf(type: string, facts: FieldFacts | undefined): "omitted" | "written" | undefined {
  if (facts === undefined) return "omitted";
  if (facts.isPointer) return undefined;
  if (facts.omitZero) return "omitted";
  const isStruct = type.startsWith(".") || type.startsWith("io.");
  return isStruct || !facts.omitEmpty ? "written" : "omitted";
}

/** The default that is published for a field whose zero value is always written. */
function impliedDefault(componentPackage: string, type: string): unknown {
  if (!type.startsWith(".") && !type.startsWith("io.")) return ZERO[type];
  const component = type.startsWith(".") ? `${componentPackage}${type}` : type;
  return wireFormOf(component) === undefined ? {} : undefined;
}

function typeText(componentPackage: string, schema: PublishedSchema, isWrapped: boolean): string {
  const target = schema.$ref ?? schema.allOf?.[0]?.$ref;
  if (target !== undefined) {
    const component = target.slice(REF.length);
    const [targetPackage, name] = splitName(component);
    return targetPackage === componentPackage ? `.${name}` : component;
  }
  if (schema.items !== undefined) {
    return `${isWrapped ? "[1]" : "[]"}${typeText(componentPackage, schema.items, false)}`;
  }
  if (schema.additionalProperties !== undefined) {
    return `{}${typeText(componentPackage, schema.additionalProperties, isWrapped)}`;
  }
  const scalar = SCALARS[`${schema.type ?? ""}:${schema.format ?? ""}`];
  if (scalar === undefined) throw new Error(`no compact form for ${JSON.stringify(schema)}`);
  return scalar;
}
