import { quote } from "../../../base/go/quote.ts";
import type { CustomResourceDefinition, JsonSchemaProps } from "../../types/custom-resource-definition.ts";
import { anySchemaHas, asSchema } from "./schema-walk.ts";

/** Formats that are checked, without hyphens, as go-openapi looks them up. */
const FORMATS: ReadonlySet<string> = new Set(
  "bsonobjectid uri email hostname ipv4 ipv6 cidr mac uuid uuid3 uuid4 uuid5 isbn isbn10 isbn13 creditcard ssn hexcolor rgbcolor byte password date duration datetime k8sshortname k8slongname".split(
    " ",
  ),
);

/** Upstream: `WarningsOnCreate` and `WarningsOnUpdate`. Warnings about the stored definition are not repeated. */
export function definitionWarnings(next: CustomResourceDefinition, previous?: CustomResourceDefinition): string[] {
  const before = new Set(previous ? [...formatWarnings(previous), ...setWarnings(previous)] : []);
  return [...formatWarnings(next), ...setWarnings(next)].filter((text) => !before.has(text));
}

function formatWarnings({ spec = {} }: CustomResourceDefinition): string[] {
  const texts: string[] = [];
  anySchemaHas(spec, ({ type = "", format = "" }) => {
    if (format !== "" && !isFormat(type, format)) texts.push(`unrecognized format ${quote(format)}`);
    return false;
  });
  return texts;
}

function isFormat(type: string, format: string): boolean {
  if (type === "" || type === "string") return FORMATS.has(format.replaceAll("-", ""));
  if (type === "integer") return format === "int32" || format === "int64";
  return type === "number" && (format === "float" || format === "double");
}

function setWarnings({ spec = {} }: CustomResourceDefinition): string[] {
  const types = new Set<string>();
  anySchemaHas(spec, (schema: JsonSchemaProps) => {
    const type = asSchema(schema.items)?.type ?? "";
    if (schema["x-kubernetes-list-type"] === "set" && (type === "object" || type === "array")) types.add(type);
    return false;
  });
  return [...types]
    .sort()
    .map(
      (type) =>
        `x-kubernetes-list-type: set for items of type ${quote(type)} is not supported by server-side apply or CEL validation rules`,
    );
}
