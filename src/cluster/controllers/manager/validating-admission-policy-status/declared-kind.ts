import {
  boolType,
  bytesType,
  doubleType,
  dynType,
  intType,
  stringType,
  type Type,
  timestampType,
} from "../../../../data/cel/values/types.ts";
import type { Schema } from "../../../../data/schema/schema.ts";
import type { ResourceDefinition } from "../../../../resources/model/definition.ts";
import { type DeclaredType, declaredType } from "../../../../resources/validation-rules/declared-type.ts";
import { escapeName } from "../../../../resources/validation-rules/escaping.ts";

/** The CEL type of the objects of a kind. Upstream: `SchemaDeclType` of its OpenAPI schema. */
export function declaredKind({ reading }: ResourceDefinition, schema: Schema): DeclaredType | undefined {
  return reading === "typed" ? builtIn(schema, new Set()) : declaredType(schema, true);
}

const simple = (type: Type): DeclaredType => ({ simple: type, maxElements: 0, minSize: 0 });

/** `within` are the enclosing components: a recursive schema is not expanded further. */
function builtIn(schema: Schema, within: ReadonlySet<string>): DeclaredType | undefined {
  if (schema.format === "int-or-string") return simple(dynType);
  const { component } = schema;
  if (component !== undefined && within.has(component)) return undefined;
  const around = component === undefined ? within : new Set([...within, component]);
  switch (schema.type) {
    case "array": {
      const element = schema.items && builtIn(schema.items, around);
      return element && { element, maxElements: 0, minSize: 0 };
    }
    case "object":
      return objectOf(schema, around);
    case "string":
      return simple(TEXTS.get(schema.format ?? "") ?? stringType);
    case "boolean":
      return simple(boolType);
    case "number":
      return simple(doubleType);
    case "integer":
      return simple(intType);
    default:
      return undefined;
  }
}

const TEXTS: ReadonlyMap<string, Type> = new Map([
  ["byte", bytesType],
  ["date-time", timestampType],
]);

function objectOf(schema: Schema, around: ReadonlySet<string>): DeclaredType | undefined {
  if (typeof schema.values === "object") {
    const element = builtIn(schema.values, around);
    return element && { element, isMap: true, maxElements: 0, minSize: 0 };
  }
  const fields = new Map<string, DeclaredType>();
  for (const [name, property] of schema.properties ?? []) {
    const type = builtIn(property, around);
    const escaped = escapeName(name);
    if (type && escaped !== undefined) fields.set(escaped, type);
  }
  return { fields, maxElements: 0, minSize: 0 };
}
