import { isObject, type Json, type JsonObject, type KubeObject } from "../../../base/api/object.ts";

/**
 * Compat: kube-apiserver writes every CustomResourceDefinition to etcd as v1beta1, which is no longer served
 * (`Convert_apiextensions_CustomResourceDefinitionSpec_To_v1_CustomResourceDefinitionSpec` converts from it). There,
 * parts that all versions share are next to the list of versions.
 */
export function convertDefinition(object: KubeObject, toApiVersion: string): KubeObject {
  const { spec } = object;
  if (!object.apiVersion.endsWith("/v1beta1") || !isObject(spec)) return { ...object, apiVersion: toApiVersion };
  return { ...object, apiVersion: toApiVersion, spec: convertSpec(spec) };
}

function convertSpec(stored: JsonObject): JsonObject {
  const { version, validation, subresources, additionalPrinterColumns, selectableFields, conversion, ...spec } = stored;
  const shared = withoutUndefined({
    schema: validation,
    subresources,
    additionalPrinterColumns: convertColumns(additionalPrinterColumns),
    selectableFields,
  });
  const versions = Array.isArray(spec.versions) ? spec.versions.filter(isObject) : [];
  if (versions.length === 0 && version !== undefined) versions.push({ name: version, served: true, storage: true });
  // A bool with `omitempty` in v1, a pointer in v1beta1.
  if (spec.preserveUnknownFields === false) delete spec.preserveUnknownFields;
  return {
    ...spec,
    versions: versions.map((one) => ({
      ...withoutUndefined({ ...one, additionalPrinterColumns: convertColumns(one.additionalPrinterColumns) }),
      ...shared,
    })),
    ...(isObject(conversion) ? { conversion: convertConversion(conversion) } : {}),
  };
}

function convertColumns(columns: Json | undefined): Json | undefined {
  if (!Array.isArray(columns)) return undefined;
  return columns.map((column) => {
    if (!isObject(column)) return column;
    const { JSONPath: jsonPath = "", ...rest } = column;
    return { ...rest, jsonPath };
  });
}

function convertConversion({ strategy, webhookClientConfig, conversionReviewVersions }: JsonObject): JsonObject {
  if (strategy !== "Webhook") return withoutUndefined({ strategy });
  return { strategy, webhook: withoutUndefined({ clientConfig: webhookClientConfig, conversionReviewVersions }) };
}

function withoutUndefined(members: JsonObject): JsonObject {
  return Object.fromEntries(Object.entries(members).filter(([, value]) => value !== undefined));
}
