import { type FieldError, requiredField } from "../../../base/api/field-error.ts";
import { isObject, type JsonObject } from "../../../base/api/object.ts";
import { addAll } from "../../../base/util/add-all.ts";
import type { JsonSchemaProps } from "../../types/custom-resource-definition.ts";
import { asSchema, asSchemas, namedSchemas } from "./schema-walk.ts";

/**
 * Errors for fields in logic junctors that are not specified outside of them. Upstream:
 * `validateStructuralCompleteness`.
 */
export function completenessErrors(schema: JsonSchemaProps, path: string): FieldError[] {
  return junctorErrors(schema, schema, path, path);
}

function junctorErrors(value: JsonSchemaProps, schema: JsonSchemaProps, path: string, valuePath: string): FieldError[] {
  const errors: FieldError[] = [];
  if (value.not) addAll(errors, nestedErrors(value.not, schema, path, `${valuePath}.not`));
  for (const junctor of ["allOf", "anyOf", "oneOf"] as const) {
    for (const [index, one] of asSchemas(value[junctor]).entries()) {
      addAll(errors, nestedErrors(one, schema, path, `${valuePath}.${junctor}[${index}]`));
    }
  }
  return errors;
}

function nestedErrors(
  value: JsonSchemaProps,
  schema: JsonSchemaProps | undefined,
  path: string,
  valuePath: string,
): FieldError[] {
  if (!schema) return [requiredField(path, `because it is defined in ${valuePath}`)];
  const errors = junctorErrors(value, schema, path, valuePath);
  const items = asSchema(value.items);
  if (items) addAll(errors, nestedErrors(items, asSchema(schema.items), `${path}.items`, `${valuePath}.items`));
  const specified: JsonObject = isObject(schema.properties) ? schema.properties : {};
  for (const [name, one] of namedSchemas(value.properties)) {
    const member = `.properties[${name}]`;
    const outer = Object.hasOwn(specified, name) ? asSchema(specified[name]) : undefined;
    addAll(errors, nestedErrors(one, outer, path + member, valuePath + member));
  }
  return errors;
}
